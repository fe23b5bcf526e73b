"""Reading a pattern certificate: its file, its fields and their types, before anything is believed.

A certificate that is not of this form is unreadable, which is different from false.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from theory.patterns import PatternError
from theory.readers.guard import regular_file
from verify import certificate_kinds as kinds
from verify.certificate_kinds import UnreadableCertificate, shown

if TYPE_CHECKING:
    from theory.patterns import IntArray
    from verify.certificate_kinds import Kind

__all__ = ["LARGEST_FILE", "Form", "read_certificate", "read_form"]

VERSION = 2
LARGEST_FILE = 2**29  # bytes: a million tokens with 14 million connections written out take a third of it


def read_certificate(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the JSON of a certificate file strictly; its fields are looked at by `verify.recheck.recheck`.

    Raises
    ------
    UnreadableCertificate
        If the file cannot be read, is no regular file (a pipe, a device), exceeds `LARGEST_FILE` bytes, or is not
        one JSON object in UTF-8 without duplicate keys, NaN or infinities.
    """
    name = shown(str(path))
    try:
        regular_file(os.fspath(path), LARGEST_FILE)  # a pipe or a device would never end
        content = Path(path).read_bytes()
    except OSError as error:
        raise UnreadableCertificate(f"cannot read {name}: {error.strerror}") from error
    except PatternError as error:
        raise UnreadableCertificate(f"cannot read {name}: {error}") from error
    try:
        data = json.loads(content.decode(), object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError:
        raise UnreadableCertificate(f"{name} is nested too deeply for a certificate") from None
    except ValueError as error:
        raise UnreadableCertificate(f"{name} is not strict JSON: {' '.join(str(error).split())[:200]}") from error
    if not isinstance(data, dict):
        raise UnreadableCertificate(f"{name} must hold one JSON object, holds {shown(data)}")
    return data


def _unique(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build one JSON object, refusing a key that occurs twice."""
    built: dict[str, Any] = {}
    for key, value in fields:
        if key in built:
            raise ValueError(f"the key {shown(key)} occurs twice in one object")
        built[key] = value
    return built


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


@dataclass
class Form:
    """The fields of one certificate, their types checked; lists of integers have become arrays.

    Whether a number names a token or a pattern is asked once, by `misplaced`, when the pattern is known: after
    that the checks may index with every number that the form calls a token or a pattern.

    Parameters
    ----------
    source
        Where the pattern is said to come from.
    pattern, claims, evidence
        The three parts of the certificate.
    """

    source: str = ""
    pattern: dict[str, Any] = field(default_factory=dict)
    claims: dict[str, Any] = field(default_factory=dict)
    evidence: dict[str, Any] = field(default_factory=dict)
    _numbers: list[tuple[str, IntArray, str]] = field(default_factory=list)

    def misplaced(self, n: int, p: int) -> str | None:
        """Name a number that stands for no token of 0..n-1 or no pattern of 0..p-1; None if there is none."""
        for where, numbers, what in self._numbers:
            end = n if what == "token" else p
            wrong = np.flatnonzero((numbers < 0) | (numbers >= end))
            if wrong.size:
                return f"{where}: {numbers[wrong[0]]} is no {what}, they are 0..{end - 1}"
        return None

    def tokens(self, value: object, where: str) -> IntArray:
        """Take a list of tokens."""
        return self._noted(kinds.integers(value, where), where, "token")

    def patterns(self, value: object, where: str) -> IntArray:
        """Take a list of pattern numbers."""
        return self._noted(kinds.integers(value, where), where, "pattern")

    def token(self, value: object, where: str) -> int:
        """Take one token."""
        return int(self._noted(np.array([kinds.count(value, where)]), where, "token")[0])

    def violations(self, value: object, where: str) -> IntArray:
        """Take a list of pairs (pattern, token)."""
        pairs = kinds.pairs(value, where)
        self._noted(pairs[:, 0], where, "pattern")
        self._noted(pairs[:, 1], where, "token")
        return pairs

    def edges(self, value: object, where: str) -> IntArray:
        """Take a list of pairs of tokens (key, query)."""
        pairs = kinds.pairs(value, where)
        self._noted(pairs.ravel(), where, "token")
        return pairs

    def _noted(self, numbers: IntArray, where: str, what: str) -> IntArray:
        self._numbers.append((where, numbers, what))
        return numbers


def read_form(certificate: object) -> Form:
    """Check every field of a certificate for presence and type.

    Raises
    ------
    UnreadableCertificate
        If the format or version is another, or a field is missing, unknown or ill-typed.
    """
    form = Form()
    fields = kinds.record(
        format=kinds.one_of("sparseuap pattern certificate"),
        version=_version,
        counting=kinds.one_of("tokens from 0"),
        orientation=kinds.one_of("attends[pattern][query] lists the keys"),
        source=kinds.text,
        pattern=kinds.record(
            n=kinds.count,
            p=kinds.count,
            connections=kinds.count,
            digest=kinds.text,
            attends=kinds.nullable(kinds.attends),
        ),
        claims=_claims(form),
        evidence=_evidence(form),
    )(certificate, "certificate")
    form.source, form.pattern = fields["source"], fields["pattern"]
    form.claims, form.evidence = fields["claims"], fields["evidence"]
    return form


def _version(value: object, where: str) -> int:
    """Take the version; an older certificate lacks evidence for s."""
    if type(value) is int and value == 1:
        raise UnreadableCertificate(
            f"{where} is 1, which holds less evidence: write the certificate again with `check --certificate`"
        )
    kinds.one_of(VERSION)(value, where)
    return VERSION


def _claims(form: Form) -> Kind:
    boolean = kinds.one_of(True, False)
    unseen = kinds.record(layers=kinds.count, query=form.token, key=form.token)
    pivot = kinds.record(token=form.token, gathers=kinds.count, spreads=kinds.count)
    hops = {
        "s": kinds.nullable(kinds.count),
        "lower": kinds.count,
        "upper": kinds.nullable(kinds.count),
        "unseen": kinds.nullable(unseen),
        "pivot": kinds.nullable(pivot),
        "relays": kinds.nullable(kinds.record(pivots=form.tokens, keys=form.tokens, queries=form.tokens)),
    }
    fails = {"key": kinds.nullable(form.token)}
    refuted = {"proved": boolean, "refutation": _refutation(form)}
    return kinds.record(
        assumption_1_1=kinds.record(answer=boolean, violations=form.violations, violation_count=kinds.count),
        assumption_1_2=kinds.by(
            "answer", (True, {"gamma": form.tokens, "patterns": form.patterns}), (False, refuted), (None, {})
        ),
        assumption_1_3=kinds.by("answer", (True, hops), (False, fails), (None, {})),
        strongly_connected=kinds.record(answer=boolean),
        reach=kinds.record(answer=kinds.one_of("all", "causal", "within causal", "other")),
        universal=kinds.record(
            **{"for": kinds.one_of("all", "causal"), "answer": kinds.one_of(True, False, None)}
        ),
        theorems=kinds.record(
            yun_2020_theorem_1=kinds.record(answer=kinds.one_of("universal", "silent", "undecided")),
            bigbird_2020_theorem_1=kinds.record(
                answer=kinds.one_of("universal", "silent"), hub=kinds.nullable(form.token)
            ),
            cheng_2025_corollary_2=kinds.record(answer=kinds.one_of("universal", "silent")),
            reach_theorem=kinds.record(answer=kinds.one_of("universal", "not universal", "silent")),
        ),
    )


def _refutation(form: Form) -> Kind:
    rank = kinds.nullable(kinds.integers)
    end = kinds.record(set=form.tokens, door=kinds.nullable(form.token))

    def three(value: object, where: str) -> list[dict[str, Any]]:
        ends = kinds.sequence(value, where, "three sets with their doors")
        if len(ends) != 3:
            raise UnreadableCertificate(f"{where} must list three sets with their doors, lists {len(ends)}")
        return [end(item, f"{where}[{number}]") for number, item in enumerate(ends)]

    return kinds.by(
        "kind",
        ("incomparable", {"a": form.token, "b": form.token, "closed_a": form.tokens, "closed_b": form.tokens}),
        ("too_few_successors", {"set": form.tokens, "successors": form.tokens, "rank": rank}),
        ("too_few_predecessors", {"set": form.tokens, "predecessors": form.tokens, "rank": rank}),
        ("too_many_parts", {"cut": form.tokens, "parts": kinds.integers, "rank": rank}),
        ("three_ends", {"ends": three, "rank": rank}),
        ("exhausted", {}),
        ("solver", {"solver": kinds.text, "proved": kinds.one_of(False)}),
    )


def _evidence(form: Form) -> Kind:
    cut = kinds.nullable(kinds.record(closed_set=form.tokens, query=form.token, key=form.token))
    spine = kinds.record(
        component=kinds.integers,
        root=form.tokens,
        in_parent=form.tokens,
        out_parent=form.tokens,
        links=form.edges,
    )
    return kinds.record(spine=kinds.nullable(spine), cut=cut, causal_cut=cut)
