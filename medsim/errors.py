"""The error tree: every failure that is not a bug, with its exit code."""


class MedsimError(Exception):
    """A failure that the user can mend; its message is one line that says what and how.

    Attributes:
        exit_code: what the command line returns for it.
    """

    exit_code = 1


class InputError(MedsimError):
    """The input is at fault: a file is missing, damaged, or not what it should be."""


class OptionError(MedsimError):
    """An option, or a combination of options, cannot be honoured."""


class OutputError(MedsimError):
    """The output cannot be written, or what lies there must not be touched."""


class StatementError(MedsimError):
    """A user's SQL statement cannot be run."""


class BrokenPromiseError(MedsimError):
    """A build on disk does not hold what medsim promises of it."""

    exit_code = 3
