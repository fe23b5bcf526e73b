"""The papers' claims put to the test: what the notes say of them is what comes out."""

from __future__ import annotations

import json

import pytest

from sparseuap.cli import main
from verify.claims import CLAIMS, Outcome


@pytest.mark.parametrize("name", CLAIMS)
def test_how_the_claims_come_out(name: str) -> None:
    expected = Outcome.NOT_NEEDED if name in ("depth", "star") else Outcome.REFUTED
    assert CLAIMS[name].test().outcome is expected


@pytest.mark.parametrize(
    ("name", "evidence"),
    [
        ("strided-s", "s = 3 in 741 of 819 cases"),
        ("fixed", "exactly those with w < n not dividing n: True"),
        ("zeta", "0.573 with t from zeta = delta/2"),
        ("depth", "the same ids bit for bit: True"),
        ("star", "proves it for this case: True"),
    ],
)
def test_the_evidence_is_what_the_notes_say(name: str, evidence: str) -> None:
    assert evidence in CLAIMS[name].test().evidence


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["claims", "edges", "--json"])
    assert stop.value.code == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["outcome"] == "refuted as stated"
    with pytest.raises(SystemExit) as stop:
        main(["claims", "edges"])
    assert "refuted as stated" in capsys.readouterr().out
    with pytest.raises(SystemExit) as stop:
        main(["claims", "nonsense"])
    assert stop.value.code == 2
    assert "strided-s" in capsys.readouterr().err
