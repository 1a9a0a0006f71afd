"""The description of a component configuration follows from its declaration."""

from hedgerow_entrypoints.cli.config import configuration_fields
from tests.unit.core.machinery.configuration.greenhouse import Greenhouse


def test_the_description_states_types_defaults_rules_and_other_spellings() -> None:
    described = {each.path: (each.type, each.default, each.meaning) for each in configuration_fields(Greenhouse).walk()}

    assert described == {
        "": ("object", "", "The configuration of a greenhouse."),
        "apiVersion": ("string", "", "Always `example.com/v1`."),
        "kind": ("string", "", "Always `Greenhouse`."),
        "irrigation": ("object", "", "Waters the beds."),
        "irrigation.enabled": ("boolean", "false", "Whether it is enabled."),
        "irrigation.period": ("duration", "6h0m0s where enabled", "Between two rounds. Longer than 0."),
        "irrigation.pumps": ("integer", "2 where enabled", "How many run at once. At least 1."),
        "logLevel": ("string", "info", "How much is logged. One of `info`, `debug`."),
        "temperature": ("number", "21", "In degrees."),
        "owners": ("list of strings", "[]", "Who may enter."),
        "owner": ("string", "", "An older spelling of `owners` with a single one; not beside it."),
        "music": ("boolean", "false", "Not acted on."),
        "beds": ("list of objects", "", "The beds."),
        "beds[].plant": ("string", "", "What grows there. Must be set."),
        "beds[].tags": ("map of strings", "", "How it is found."),
    }
