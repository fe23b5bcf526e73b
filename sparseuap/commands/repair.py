"""`sparseuap repair`: the smallest set of connections to add so that a theorem applies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from sparseuap import options
from sparseuap.progress import Steps
from theory.files import check_output, write_text
from theory.readers.source import read_source, source_files
from theory.repair import repair
from theory.theorems import FunctionClass
from theory.verdicts import Answer
from theory.wording import printable
from verify.repair_check import check_repair

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from theory.patterns import SparsityPattern
    from theory.repair import Repair
    from verify.repair_check import RepairCheck

__all__ = ["command"]

SHOWN = 20
THEOREMS = {"reach": "the reach theorem", "paper": "Theorem 1 of Yun et al. 2020"}


@click.command("repair")
@click.argument("source")
@options.for_functions
@click.option(
    "--keep-causal/--no-keep-causal",
    default=None,
    help="Whether no connection to a key after its query may be added. Default: none, where causal functions are"
    " asked for and the pattern has none.",
)
@click.option(
    "--theorem",
    type=click.Choice(list(THEOREMS)),
    default="reach",
    show_default=True,
    help="What has to apply: the reach theorem, or the paper's Theorem 1 (with a Hamiltonian path).",
)
@click.option("--pattern", "layer", type=click.IntRange(min=0), help="The pattern to add to, from 0 (the last).")
@click.option("--out", "file", type=options.OUTPUT, help="Write the repaired pattern (JSON).")
@options.time_limit(10.0, "Seconds for the search, and for each hard question of the check.")
@options.json_wanted
def command(
    source: str,
    for_: str,
    keep_causal: bool | None,
    theorem: str,
    layer: int | None,
    file: Path | None,
    time_limit: float,
    json_wanted: bool,
) -> int:
    """Find the fewest connections that make the pattern SOURCE universal, and check the repaired pattern.

    Exit status: 0 repaired, or nothing to do; 1 no repair exists; 2 bad input; 3 not found or not confirmed in
    time.
    """
    functions = FunctionClass(for_)
    if file is not None:
        check_output(file, source_files(source))
    with Steps() as say:
        say("reading the pattern")
        pattern = read_source(source)
        say("searching")
        found = repair(
            pattern,
            for_=functions,
            theorem="paper" if theorem == "paper" else "reach",
            keep_causal=keep_causal,
            layer=layer,
            time_limit=time_limit,
        )
        checked = None
        if found.pattern is not None:
            checked = check_repair(
                pattern, found, for_=functions, theorem=theorem, time_limit=time_limit, progress=say
            )
            if checked.answer is Answer.FAILS:
                raise RuntimeError(f"the repair of {source} does not pass its check: {checked.why}")
            if file is not None and checked.answer is Answer.HOLDS:
                _write(found.pattern, source, len(found.added), file)
    if json_wanted:
        click.echo(json.dumps(_as_json(source, pattern, for_, theorem, found, checked), indent=2))
    else:
        click.echo("\n".join(_lines(printable(source), for_, theorem, found, checked, file)))
    return options.EXIT[found.answer if checked is None else checked.answer]


def _write(pattern: SparsityPattern, source: str, added: int, file: Path) -> None:
    content = {
        "source": source,
        "description": f"{source} with {added} connections added by `sparseuap repair`",
        "n": pattern.n,
        "p": pattern.p,
        "counting": "tokens from 0",
        "orientation": "attends[pattern][query] lists the keys",
        "attends": pattern.to_lists(),
    }
    write_text(file, json.dumps(content) + "\n")


def _as_json(
    source: str, pattern: SparsityPattern, for_: str, theorem: str, found: Repair, checked: RepairCheck | None
) -> dict[str, Any]:
    from sparseuap.check_report import as_json

    verdict = None if checked is None else checked.verdict
    return {
        "source": source,
        "counting": "tokens and patterns from 0",
        "n": pattern.n,
        "p": pattern.p,
        "for": for_,
        "theorem": theorem,
        "repaired": None if checked is None else checked.answer.as_json(),
        "possible": found.answer.as_json(),
        "orientation": "added lists [pattern, query, key]",
        "added": found.added.tolist(),
        "optimal": found.optimal,
        "lower_bound": found.lower_bound if found.pattern is not None else None,
        "why": found.why,
        "check": None if checked is None else checked.why,
        "path": None if found.path is None else found.path.tolist(),
        "verdict": None if verdict is None else as_json(verdict, source),
    }


def _lines(
    source: str, for_: str, theorem: str, found: Repair, checked: RepairCheck | None, file: Path | None
) -> Iterator[str]:
    if checked is None or found.pattern is None:
        yield f"{source}: {found.why}."
        return
    count = len(found.added)
    aim = f"{THEOREMS[theorem]}, {for_} continuous functions"
    if not count:
        yield f"{source}: nothing to add ({aim})."
        yield _sentence(found.why)
        return
    bound = "the fewest possible" if found.optimal else f"at least {found.lower_bound} are needed"
    yield f"{source}: add {count} connection{'s' * (count > 1)} ({aim}); {bound}."
    yield _sentence(found.why)
    yield ""
    for number, query, key in found.added[:SHOWN].tolist():
        to = "itself" if query == key else f"token {key}"
        yield f"  pattern {number}: token {query} attends to {to}"
    if count > SHOWN:
        yield f"  and {count - SHOWN} more (--json lists all)"
    yield ""
    state = "passes its check" if checked.answer is Answer.HOLDS else "is not confirmed within the time limit"
    yield f"The repaired pattern {state}: {checked.why}."
    if file is not None and checked.answer is Answer.HOLDS:
        yield f"Written to {printable(str(file))}."


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."
