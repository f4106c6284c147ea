"""What `psopt check --junit` writes: each bound a test case, as CI systems show them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from psopt.api import CheckResult, FailingSample, Threshold

_NAME = "psopt check"
_BOUNDS, _SAMPLES = "psopt.check", "psopt.check.samples"


def junit_xml(result: CheckResult, facts: dict[str, str]) -> str:
    """Write a check's result as JUnit XML.

    Parameters
    ----------
    result : CheckResult
    facts : dict of str to str
        What is said of the suite: data set, model, prompt.

    Returns
    -------
    str
        One test case a bound, a failure where it is missed. Samples that fail under ``--each`` are test cases too:
        failures where that bound is missed, and skipped where it allows them.
    """
    suite = ET.Element("testsuite", name=_NAME)
    properties = ET.SubElement(suite, "properties")
    for name, value in facts.items():
        ET.SubElement(properties, "property", name=name, value=allowed(value))
    for threshold in result.thresholds:
        _add_bound(suite, threshold)
        for sample in threshold.failing:
            _add_sample(suite, threshold, sample)
    counts = {
        "tests": len(suite.findall("testcase")),
        "failures": len(suite.findall("testcase/failure")),
        "errors": 0,
        "skipped": len(suite.findall("testcase/skipped")),
    }
    root = ET.Element("testsuites", name=_NAME)
    for element in (root, suite):
        element.attrib.update({name: str(number) for name, number in counts.items()})
    root.append(suite)
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def allowed(text: str) -> str:
    r"""Return a text with what XML 1.0 can't hold, not even escaped, written as in Python.

    >>> allowed("red\x1b[31m \ud800 line\n")
    'red\\x1b[31m \\ud800 line\n'
    """
    return "".join(character if _is_allowed(ord(character)) else ascii(character)[1:-1] for character in text)


def _is_allowed(code: int) -> bool:
    """Whether a character is one of XML 1.0's: https://www.w3.org/TR/xml/#charsets."""
    return code in (9, 10, 13) or 32 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or code > 0xFFFF


def _add_bound(suite: ET.Element, threshold: Threshold) -> None:
    case = ET.SubElement(suite, "testcase", classname=_BOUNDS, name=allowed(threshold.name), time="0")
    line = allowed(str(threshold))
    if threshold.met:
        ET.SubElement(case, "system-out").text = line
    else:
        ET.SubElement(case, "failure", message=line, type="missed").text = line


def _add_sample(suite: ET.Element, threshold: Threshold, sample: FailingSample) -> None:
    case = ET.SubElement(suite, "testcase", classname=_SAMPLES, name=allowed(sample.id), time="0")
    line = allowed(f"{sample.label} is answered under {100 * sample.right:.0f} % of {threshold.n_rephrasings} wordings")
    if threshold.met:
        ET.SubElement(case, "skipped", message=f"{line}; the bound allows it")
    else:
        ET.SubElement(case, "failure", message=line, type="not robust").text = line
