"""The built-in data sets, by name."""

from __future__ import annotations

from psopt.errors import UnknownNameError
from psopt.tasks import _dbpedia, _superglue, _trec, _wos
from psopt.tasks._bundled import read_bundled
from psopt.tasks._dataset import Builtin, RemoteFile

_TREC_ORIGIN = "https://cogcomp.seas.upenn.edu/Data/QA/QC/"
_SUPERGLUE_ORIGIN = "https://dl.fbaipublicfiles.com/glue/superglue/data/v2/"

_TREC = Builtin(
    name="trec",
    description="questions by the kind of answer they ask for: 6 classes, 50 subclasses (Li and Roth)",
    files=(
        RemoteFile(
            _trec.TRAIN,
            _TREC_ORIGIN + _trec.TRAIN,
            "9e4c8bdcaffb96ed61041bd64b564183d52793a8e91d84fc3a8646885f466ec3",
            335_858,
        ),
        RemoteFile(
            _trec.TEST,
            _TREC_ORIGIN + _trec.TEST,
            "033f22c028c2bbba9ca682f68ffe204dc1aa6e1cf35dd6207f2d4ca67f0d0e8e",
            23_354,
        ),
    ),
    read=_trec.read_published,
    package="psopt.tasks.bundled_trec",
    read_bundled=_trec.read_bundled,
    page=_TREC_ORIGIN,
)

_CB = Builtin(
    name="cb",
    description="does a premise entail a hypothesis, contradict it, or neither: 3 classes (CommitmentBank, SuperGLUE)",
    files=(
        RemoteFile(
            "CB.zip",
            _SUPERGLUE_ORIGIN + "CB.zip",
            "8d641383298d54554066ba1c93f56ae7410af75df621b90c63028806bbbbb535",
            75_482,
            members=(f"CB/{_superglue.TEST}", f"CB/{_superglue.TRAIN}"),
        ),
    ),
    read=_superglue.read_cb,
    package="psopt.tasks.bundled_cb",
    read_bundled=read_bundled,
    page="https://super.gluebenchmark.com/tasks",
)

_RTE = Builtin(
    name="rte",
    description="does a hypothesis follow from a premise: 2 classes (SuperGLUE)",
    files=(
        RemoteFile(
            "RTE.zip",
            _SUPERGLUE_ORIGIN + "RTE.zip",
            "6310aab3f000424c9d0318a1ff20692e07c7f4aa15e8f17a5972ea0a35c398b9",
            750_920,
            members=(f"RTE/{_superglue.TEST}", f"RTE/{_superglue.TRAIN}"),
        ),
    ),
    read=_superglue.read_rte,
    package="psopt.tasks.bundled_rte",
    read_bundled=read_bundled,
    page="https://super.gluebenchmark.com/tasks",
)

_DBPEDIA = Builtin(
    name="dbpedia",
    description="encyclopedia articles by what they are about: 14 classes, 2,000 of the test file (Zhang et al.)",
    files=(
        RemoteFile(
            "dbpedia_csv.tgz",
            "https://s3.amazonaws.com/fast-ai-nlp/dbpedia_csv.tgz",
            "42db5221ddedddb673a4cabcc5f3a7d869714c878bcfe4ba94b29d14aa38e417",
            68_341_743,
            members=(f"dbpedia_csv/{_dbpedia.TRAIN}", f"dbpedia_csv/{_dbpedia.TEST}"),
            optional=(f"dbpedia_csv/{_dbpedia.CLASSES}",),
        ),
    ),
    read=_dbpedia.read_published,
    package="psopt.tasks.bundled_dbpedia",
    read_bundled=read_bundled,
    page="https://course.fast.ai/datasets",
)

_WOS = Builtin(
    name="wos",
    description="abstracts by field of research: 7 classes, 134 areas, 2,000 of WoS-46985 (Kowsari et al.)",
    files=(
        RemoteFile(
            "WebOfScience.zip",
            "https://data.mendeley.com/public-files/datasets/9rw3vkcfy4/files/"
            "c9ea673d-5542-44c0-ab7b-f1311f7d61df/file_downloaded",
            "b787d484bff88b0dcdb3fa291d06ec9d2f025dc2a67ce1045d0c688cd96ccf8a",
            60_222_421,
            members=(f"WOS46985/{_wos.TEXTS}", f"WOS46985/{_wos.DOMAINS}"),
            optional=(f"WOS46985/{_wos.AREAS}",),
        ),
    ),
    read=_wos.read_published,
    package="psopt.tasks.bundled_wos",
    read_bundled=read_bundled,
    page="https://data.mendeley.com/datasets/9rw3vkcfy4",
)

BUILTINS = {builtin.name: builtin for builtin in (_TREC, _CB, _RTE, _DBPEDIA, _WOS)}


def find_builtin(name: str) -> Builtin:
    """Return the built-in data set of this name.

    Raises
    ------
    UnknownNameError
        If there is none.
    """
    if name not in BUILTINS:
        hint = "or give a .csv, .tsv, .jsonl, .parquet or task .toml file"
        raise UnknownNameError("dataset", name, BUILTINS, hint=hint)
    return BUILTINS[name]
