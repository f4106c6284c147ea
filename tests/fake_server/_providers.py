"""What providers refuse, in their own shapes: each takes a request and returns an HTTP status and an error body.

The words are short quotations of what the services were seen or are documented to answer; the sources stand beside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiohttp import web

Refusal = tuple[int, Any] | None
_OPENAI_PARAMETER = "Unsupported parameter: '{}' is not supported with this model."


def _openai_error(message: str, code: str | None = None, param: str | None = None, status: int = 400) -> Refusal:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return status, {"error": error}


def _vllm_error(message: str) -> Refusal:
    return 400, {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": 400}


def reasoning(body: dict[str, Any]) -> Refusal:
    """OpenAI's gpt-5 and o-series (platform.openai.com/docs/guides/reasoning)."""
    if "max_tokens" in body:
        message = _OPENAI_PARAMETER.format("max_tokens") + " Use 'max_completion_tokens' instead."
        return _openai_error(message, "unsupported_parameter", "max_tokens")
    if body.get("temperature", 1) != 1:
        message = f"Unsupported value: 'temperature' does not support {body['temperature']} with this model. "
        message += "Only the default (1) value is supported."
        return _openai_error(message, "unsupported_value", "temperature")
    if "logprobs" in body:
        return 403, {"error": {"message": "You are not allowed to request logprobs from this model", "code": None}}
    return None


def deepseek(body: dict[str, Any]) -> Refusal:
    """DeepSeek (api-docs.deepseek.com/guides/json_mode)."""
    form = (body.get("response_format") or {}).get("type")
    if form == "json_schema":
        return _openai_error("This response_format type is unavailable now", "invalid_request_error")
    if form == "json_object" and "json" not in str(body["messages"]).casefold():
        message = "Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'."
        return _openai_error(message, "invalid_request_error")
    return None


def gemini(body: dict[str, Any]) -> Refusal:
    """Gemini's compatible endpoint: the error body is a list (ai.google.dev/gemini-api/docs/openai)."""
    for field in ("seed", "logprobs"):
        if field in body:
            message = f'Invalid JSON payload received. Unknown name "{field}": Cannot find field.'
            violations = [{"fieldViolations": [{"description": message}]}]
            error = {"code": 400, "message": message, "status": "INVALID_ARGUMENT", "details": violations}
            return 400, [{"error": error}]
    return None


def mistral(body: dict[str, Any]) -> Refusal:
    """Mistral: fields that it does not know are forbidden (docs.mistral.ai/api)."""
    for field in body:
        if field in {"seed", "max_completion_tokens", "logprobs", "top_logprobs"}:
            forbidden = {"type": "extra_forbidden", "loc": ["body", field], "msg": "Extra inputs are not permitted"}
            message = {"detail": [{**forbidden, "input": body[field]}]}
            return 422, {"object": "error", "message": message, "type": "invalid_request_error", "param": None}
    return None


def tgi(body: dict[str, Any]) -> Refusal:
    """Text Generation Inference: its validation of sampling parameters."""
    if body.get("temperature") is not None and body["temperature"] <= 0:
        message = "Input validation error: `temperature` must be strictly positive"
        return 422, {"error": message, "error_type": "validation"}
    if (body.get("response_format") or {}).get("type") == "json_schema":
        message = "Failed to deserialize the JSON body into the target type: response_format.type: unknown variant"
        return 422, f"{message} `json_schema`, expected `json_object` or `regex` at line 1 column 330"
    return None


def llama_cpp_python(body: dict[str, Any]) -> Refusal:
    """llama-cpp-python's server: pydantic's words, as HTTP 500."""
    if (body.get("response_format") or {}).get("type") == "json_schema":
        message = "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), "
        message += "'msg': \"Input should be 'text' or 'json_object'\", 'input': 'json_schema', "
        message += "'ctx': {'expected': \"'text' or 'json_object'\"}}]"
        return 500, {"error": {"message": message, "type": "internal_server_error", "param": None, "code": None}}
    return None


def no_system_role(body: dict[str, Any]) -> Refusal:
    """Chat templates such as Gemma's, as vLLM passes them on."""
    if any(turn["role"] == "system" for turn in body["messages"]):
        return _vllm_error("System role not supported")
    return None


def alternating(body: dict[str, Any]) -> Refusal:
    """Chat templates such as Llama 2's: a system message counts as a turn, the user's must follow an assistant's."""
    roles = [turn["role"] for turn in body["messages"]]
    if roles != [("user", "assistant")[index % 2] for index in range(len(roles))]:
        return _vllm_error("Conversation roles must alternate user/assistant/user/assistant/...")
    return None


def vllm(body: dict[str, Any]) -> Refusal:
    """VLLM's limits: 5 log-probabilities unless told otherwise (--max-logprobs)."""
    if body.get("top_logprobs", 0) > 5:
        asked = body["top_logprobs"]
        return _vllm_error(f"Requested sample logprobs of {asked}, which is greater than max allowed: 5")
    return None


def one_of_two(body: dict[str, Any]) -> Refusal:
    """A server that holds answers to a form or gives log-probabilities, each as it should, but not together."""
    if "response_format" in body and body.get("logprobs"):
        return _openai_error("logprobs are not supported together with response_format", param="logprobs")
    return None


def fastapi(body: dict[str, Any]) -> Refusal:
    """A server of pydantic models that forbid what they don't know, and repeat the whole request."""
    allowed = {"model", "messages", "max_tokens", "temperature"}
    detail = [
        {"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted", "input": body}
        for name in body
        if name not in allowed
    ]
    return (422, {"detail": detail}) if detail else None


def taciturn(body: dict[str, Any]) -> Refusal:
    """A gateway that does not say what is wrong: it takes no seed."""
    return (400, {"error": "Bad Request"}) if "seed" in body else None


_ALL = (reasoning, deepseek, gemini, mistral, tgi, llama_cpp_python, no_system_role, alternating, vllm, one_of_two)
PROVIDERS: dict[str, Callable[[dict[str, Any]], Refusal]] = {
    provider.__name__.replace("_", "-"): provider for provider in (*_ALL, fastapi, taciturn)
}


def refuse(provider: str, model: str, request: web.Request, body: dict[str, Any]) -> Refusal:
    """What a provider refuses, and any other model than the one it has."""
    if model and body.get("model") != model:
        return _openai_error(f"The model `{body.get('model')}` does not exist.", "model_not_found", "model", 404)
    if provider == "azure":
        return _azure(request)
    return PROVIDERS[provider](body) if provider else None


def _azure(request: web.Request) -> Refusal:
    """Azure: its own addresses, with the api-version, and the key in a header of its own."""
    if "api-key" not in request.headers or "Authorization" in request.headers:
        return 401, {"error": {"code": "401", "message": "Access denied due to missing subscription key."}}
    if not request.path.startswith("/openai/") or "api-version" not in request.query:
        return 404, {"error": {"code": "404", "message": "Resource not found"}}
    return None
