"""Names of data sets on the Hugging Face hub: ``hf:ORG/NAME[:CONFIG][@REV]``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from psopt.errors import InputError

PREFIX = "hf:"
_FORM = re.compile(r"hf:(?P<repository>[\w.-]+/[\w.-]+)(?::(?P<config>[^@\s]+))?(?:@(?P<revision>[^@\s]+))?")


@dataclass(frozen=True, slots=True)
class HubName:
    """A data set on the hub.

    Examples
    --------
    >>> HubName.read("hf:nyu-mll/glue:sst2@v1.0")
    HubName(repository='nyu-mll/glue', config='sst2', revision='v1.0')
    """

    repository: str  # ``ORG/NAME``
    config: str | None = None  # one of the data set's configurations; None for its default one
    revision: str | None = None  # a branch, a tag or a commit; None for the main branch

    @classmethod
    def read(cls, name: str) -> HubName:
        """Read a name.

        Raises InputError if it is of another form.
        """
        match = _FORM.fullmatch(name)
        if match is None:
            raise InputError(
                f"{name}: hf:ORG/NAME is expected, with :CONFIG and @REVISION where they are needed, "
                "such as hf:nyu-mll/glue:sst2"
            )
        return cls(**match.groupdict())

    def __str__(self) -> str:
        """The name as it is written.

        >>> str(HubName("nyu-mll/glue", "sst2", "v1.0"))
        'hf:nyu-mll/glue:sst2@v1.0'
        """
        config = f":{self.config}" if self.config else ""
        revision = f"@{self.revision}" if self.revision else ""
        return f"{PREFIX}{self.repository}{config}{revision}"

    @property
    def short(self) -> str:
        """What the task is called: the repository's own name, with the configuration where one is named.

        >>> HubName("nyu-mll/glue", "sst2").short
        'glue-sst2'
        """
        own = self.repository.partition("/")[2]
        return f"{own}-{self.config}" if self.config else own


def is_hub_name(dataset: object) -> bool:
    """Tell whether a data set is one on the hub.

    >>> is_hub_name("hf:nyu-mll/glue"), is_hub_name("hf.csv")
    (True, False)
    """
    return str(dataset).startswith(PREFIX)
