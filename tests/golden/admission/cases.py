"""The golden cases: what stands in their files, and what the webhooks make of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from hedgerow.admission.webhook import Denied, Mutated
from hedgerow.machinery.configuration.section import Purpose
from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.files.sources import LoadedObject
from hedgerow_entrypoints.cli.review.course import Reviewed, reviewed_by
from hedgerow_entrypoints.cli.review.facts import ReviewFacts
from hedgerow_entrypoints.cli.review.panels import Panel, named_panel, readable, whole_panel
from hedgerow_entrypoints.cli.review.requests import candidates, is_review, sent_objects
from hedgerow_entrypoints.configuration import Stated, read_configuration

DIRECTORY = Path(__file__).parent


@dataclass(frozen=True)
class Case:
    """One directory: what is sent, and who is asked about it."""

    directory: Path

    @property
    def options(self) -> dict[str, Any]:
        """What is said about the case beside its objects."""
        path = self.directory / "options.yaml"
        return yaml.safe_load(path.read_text()) if path.exists() else {}

    @property
    def config(self) -> Stated | None:
        """What the webhooks go by; none: what they go by without a configuration."""
        path = self.directory / "config.yaml"
        return read_configuration(str(path), Purpose.OFFLINE) if path.exists() else None

    @property
    def panel(self) -> Panel:
        """Who is asked."""
        names, mode = self.options.get("webhooks"), self.options.get("mode")
        if names:
            return named_panel(names, self.config, None, mode)
        return whole_panel(self.config, None, mode)

    def objects(self, name: str) -> Sequence[LoadedObject]:
        """What a file holds; nothing, if there is no such file."""
        path = self.directory / name
        return sent_objects([str(path)]) if path.exists() else ()

    @property
    def decisions(self) -> str:
        """The decisions that are expected."""
        return (self.directory / "decisions.txt").read_text()

    @property
    def admitted(self) -> list[Any]:
        """The changed objects that are expected, as diffs show them."""
        path = self.directory / "expected.yaml"
        return list(yaml.load_all(path.read_text(), yaml.CSafeLoader)) if path.exists() else []


@dataclass(frozen=True)
class CaseResult:
    """What has been decided, and what has become of the objects that were changed."""

    reviews: Sequence[Reviewed]

    @property
    def decisions(self) -> str:
        """A line for each decision."""
        return "".join(f"{_line(each)}\n" for each in self.reviews)

    @property
    def admitted(self) -> list[tuple[Manifest, Manifest]]:
        """The changed objects that nobody denied, each as it is and as diffs show it."""
        last: dict[int, tuple[Manifest, Manifest]] = {}
        for each in self.reviews:
            match each.decision:
                case Denied():
                    last.pop(id(each.candidate), None)
                case Mutated() as mutated:
                    last[id(each.candidate)] = mutated.object, readable(mutated.object, each.webhook)
        return list(last.values())


def all_cases() -> list[Case]:
    """The cases, by name."""
    return [Case(path.parent) for path in sorted(DIRECTORY.glob("*/input.yaml"))]


async def outcome(case: Case, objects: Sequence[LoadedObject], old: Sequence[LoadedObject]) -> CaseResult:
    """What the webhooks of a case make of objects."""
    requests = candidates(objects, case.options.get("operation"), old)
    facts = ReviewFacts([each for each in objects if not is_review(each.manifest)], None, ())
    session = await reviewed_by(case.panel, requests, facts, everything="webhooks" not in case.options)
    return CaseResult(session.reviews)


def _line(each: Reviewed) -> str:
    beginning = f"{each.verdict} {each.request.kind.kind} {each.candidate.name} by {each.webhook}"
    match each.decision:
        case Denied(code, message):
            return f"{beginning}: {code} {message}"
        case _:
            reason = ", ".join(mutation.rule for mutation in each.mutations) or each.message
            said = "; ".join(filter(None, (reason, *(f"warning: {warning}" for warning in each.warnings))))
            return f"{beginning}: {said}" if said else beginning
