"""The HTML report: what it says, that it needs nothing else, and that a browser opens it without complaint."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any

import findings
import numpy as np
import pytest
from rich.console import Console

from pready.show.tables.validation import report_view
from pready.validate.report import figures, summary
from pready.validate.report.page import difference, html
from pready.validate.result import Check, Report

COMMAND = "pready validate all -o report --seed 7"


class Page(HTMLParser):
    """Elements, where they point, and the text that a reader sees."""

    VOID = ("meta", "link", "br", "input", "img")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.headings: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data
        if self.open[-1:] == ["h2"]:
            self.headings.append(data)


@pytest.fixture(scope="module")
def text() -> str:
    return html(findings.report(), COMMAND)


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


@pytest.mark.thorough
def test_elements_are_closed_and_identifiers_unique(page: Page) -> None:
    assert page.open == []
    ids = [a["id"] for _, a in page.seen if "id" in a]
    assert len(ids) == len(set(ids))
    within = [str(a["href"])[1:] for _, a in page.seen if str(a.get("href")).startswith("#")]
    assert set(within) <= set(ids)
    named = [name for _, a in page.seen for name in str(a.get("aria-labelledby") or "").split()]
    assert set(named) <= set(ids)


@pytest.mark.thorough
def test_nothing_comes_from_elsewhere(text: str, page: Page) -> None:
    assert not external(page)
    assert "@import" not in text
    assert not [tag for tag, _ in page.seen if tag in ("script", "iframe", "object", "embed", "img")]
    urls = re.findall(r"url\(([^)]*)\)", text)
    assert all(u.startswith("#") for u in urls)
    # What is left of http are links that a reader may follow.
    links = {str(a["href"]) for tag, a in page.seen if tag == "a" and str(a["href"]).startswith("http")}
    assert "https://doi.org/10.1145/3605573.3605599" in links
    assert all(link.startswith("https://doi.org/") for link in links)
    assert text.count("http://") == 0


def external(page: Page) -> list[str]:
    """Whatever a browser would fetch."""
    names = ("src", "srcset", "data", "poster", "xlink:href", "action", "background", "manifest")
    found = [str(a[n]) for _, a in page.seen for n in names if n in a]
    found += [str(a["href"]) for tag, a in page.seen if "href" in a and tag != "a"]
    return [u for u in found if not u.startswith(("#", "data:"))]


@pytest.mark.parametrize(
    "fetches",
    ['<img src="https://a/b.png">', '<link rel="stylesheet" href="//a/b.css">', '<svg><image href="x.png"/></svg>'],
)
def test_the_test_sees_what_is_fetched(fetches: str) -> None:
    assert external(Page(f"<p>{fetches}</p>"))


def test_what_is_wrong_comes_first(page: Page) -> None:
    assert page.headings == [
        "Claims at a glance",
        "Where it is wrong",
        "rig 1Gbit",
        "Claims one by one",
        "Where a paper contradicts itself",
        "Out of scope",
        "Reproduce",
    ]
    wrong = page.text[page.text.index("Where it is wrong\n") : page.text.index("How far off")]
    assert "verdict right" in wrong
    assert "contention <b>costs</b> 30×" in wrong
    assert "four threads" not in wrong


def test_everything_is_there(page: Page) -> None:
    for words in (
        "gillis2023: 2 ok, 1 off, 0 out of scope",
        "a compiler's run time",  # the reason for out of scope
        "printed γθβ",  # the other reading
        "β halved",
        "Rejected, as it must be.",
        "Not rejected: the checks are blind to this.",
        "the rendezvous handshake",
        'name = "rig"',  # the machine file
        "MPICH 4.3",
        COMMAND,
        "seed 7",
        "Python",
    ):
        assert words in page.text, words
    titles = [a.get("aria-labelledby") for tag, a in page.seen if tag == "svg"]
    assert len(titles) == 4
    assert all(titles)


@pytest.mark.thorough
def test_text_of_others_is_not_markup() -> None:
    evil = "<script>alert(1)</script>"
    claim = replace(findings.CLAIM, says=evil, why=evil, where=evil, id=evil, configuration=evil, source='"><i>')
    cases = tuple(replace(c, approach="</text>&<i>", suspect=evil, library=evil) for c in findings.cases(8))
    comparison = replace(
        findings.comparison(), title=evil, cases=cases, notes=(evil,), about={evil: evil, "m": f"{evil}\n"}
    )
    page = Page(html(Report("0", 0, {evil: evil}, (claim,), (comparison,)), evil))
    assert not [tag for tag, _ in page.seen if tag in ("script", "i")]
    assert evil in page.text


def test_a_control_that_nothing_rejects_is_not_said_to_be_as_it_must() -> None:
    both = findings.comparison()
    caught = replace(both, controls=both.controls[:1])
    said = [summary.headline(Report("0", 0, {}, comparisons=(c,)))[-1] for c in (both, caught)]
    assert said[0].endswith("1 of 2 negative controls are rejected, where all must be.")
    assert said[1].endswith("1 of 1 negative controls are rejected, as they must be.")


@pytest.mark.parametrize(
    "report",
    [
        Report("0", 0, {}),
        Report("0", 0, {}, claims=(findings.OUT,)),
        Report("0", 0, {}, claims=(findings.WORDS,)),
        Report("0", 0, {}, comparisons=(replace(findings.comparison(1), controls=(), checks=()),)),
        Report("0", 0, {}, comparisons=(replace(findings.comparison(), cases=()),)),
    ],
    ids=["nothing", "out of scope only", "no number", "one case of bulk", "no case"],
)
def test_a_part_may_be_empty(report: Report) -> None:
    page = Page(html(report, "pready validate"))
    assert "nan" not in page.text
    assert page.open == []


@pytest.mark.thorough
def test_the_size_stays_moderate(text: str) -> None:
    """At most 1.5 kB for a case, over all figures and tables, so that 1500 cases stay below 3 MB."""
    assert (len(text) - len(html(findings.report(20), COMMAND))) / 100 < 1500
    assert len(text) < 5e5


# ---- the numbers ----------------------------------------------------------------------------------------------------


def test_weak_claims_are_counted_apart_everywhere() -> None:
    ok = replace(findings.CLAIM, basis="independent")
    weak = replace(ok, id="gillis2023/weak", weak=True)
    off = replace(findings.OFF, basis="independent")
    fitted = replace(ok, id="gillis2023/fitted", basis="fitted")
    claims = (ok, weak, off, fitted)
    assert summary.able_to_fail(claims) == (1, 2)
    assert [summary.status(c) for c in claims] == ["ok", "weak", "off", "ok"]
    tally = summary.tallies(claims)[0]
    assert (tally.able_to_fail, tally.weak, tally.ok["independent"]) == ((1, 2), 1, 2)
    report = replace(findings.report(), claims=claims, comparisons=())
    assert summary.headline(report)[1] == (
        "Independent and able to fail: ok 1 of 2; 1 more agrees whatever the machine (weak)."
    )
    assert [c["weak"] for c in report.to_dict()["claims"]] == [False, True, False, False]
    page = html(report, COMMAND)
    assert '<td class="n">1 of 2</td><td class="n">1</td>' in page
    console = Console(width=200, record=True, file=StringIO())
    console.print(report_view(report))
    assert "3 ok (1 weak)" in console.export_text()


def test_the_worst_are_the_worst_whichever_way_they_miss() -> None:
    base = findings.cases(4)[1]
    right = replace(base, predicted_s=base.measured_s, eta_predicted=base.eta_measured)
    half = replace(right, id="half", predicted_s=right.measured_s / 2)
    more = replace(right, id="more", predicted_s=right.measured_s * 1.9)
    gain = replace(right, id="gain", eta_predicted=right.eta_measured * 3)
    assert [c.id for c in summary.worst([right, more, half, gain], 3)] == ["gain", "half", "more"]
    assert summary.miss(right) == 0
    # Twice as long, but so is every second of its own rounds: the model is not to blame.
    shaky = replace(half, id="shaky", spread=3.0)
    assert [c.id for c in summary.worst([shaky, half, right], 1)] == ["half"]


def test_groups_know_medians_and_leave_bulk_out_of_eta() -> None:
    """Errors of time 10, 20, 60 %: the median is 20 %; η only of the two that are not bulk: 0 and 50 %, median 25 %."""
    base = replace(findings.cases(4)[2], measured_s=1.0, eta_measured=2.0, eta_closed_form=2.2)
    cases = [
        replace(base, predicted_s=1.1, eta_predicted=2.0),
        replace(base, predicted_s=0.8, eta_predicted=1.0, predicted_low_s=0.9, predicted_high_s=1.1),
        replace(base, approach="single", predicted_s=1.6, eta_measured=1.0, eta_predicted=1.0, eta_closed_form=None),
    ]
    group = summary.groups(cases, lambda _: "all")[0]
    assert group.time_median == pytest.approx(0.2)
    assert group.time_p90 == pytest.approx(0.52)  # 0.2 + 0.8 · 0.4, linear between the order statistics
    assert group.eta_median == pytest.approx(0.25)
    assert group.closed_form_median == pytest.approx(0.1)
    assert group.inside == pytest.approx(1 / 3)


def test_deviation() -> None:
    assert [summary.deviation(2.0, got) for got in (2.1, 1.0)] == pytest.approx([0.05, -0.5])
    none: list[tuple[Any, Any]] = [(0.0, 1.0), (True, True), ("at most 2", 1.0), (2.0, None), (2.0, float("inf"))]
    assert {summary.deviation(expected, got) for expected, got in none} == {None}


def test_a_share_is_per_cent_and_no_case_is_not_a_number() -> None:
    assert summary.check_value(0.041, "") == "4.1\N{NO-BREAK SPACE}%"
    assert summary.check_value(12.0, "us") == "12 us"
    empty = Check("x", float("nan"), 0.07, "at most")
    assert summary.check_value(empty.value, "") == "no case"
    assert not empty.ok


def test_what_is_off_is_told_apart() -> None:
    """1.21688 and 1.21694 are both 1.217 in four digits, where a tolerance of 5e-5 tells them apart."""
    claim = replace(findings.OFF, expected=1.21688, got=1.21694, unit="us")
    assert summary.pair(claim, claim.unit) == ("1.21688\N{NO-BREAK SPACE}us", "1.21694\N{NO-BREAK SPACE}us")
    assert summary.pair(replace(claim, status="ok"), "") == ("1.217", "1.217")


def test_numbers_and_differences() -> None:
    numbers = {16384.0: "16384", 1.0: "1", 0.03125: "0.03125", 1.2e-9: "1.2e-09", 123456.7: "123500"}
    assert {x: summary.number(x, 4) for x in numbers} == numbers
    differences = {0.0: "0", 0.0241: "+2.4 %", -3e-5: "−0.003 %", 1.0: "2×", -0.75: "0.25×", None: ""}
    assert {x: summary.signed(x).replace("\N{NO-BREAK SPACE}", " ") for x in differences} == differences


def test_differences_of_percentages_are_points() -> None:
    """From −1.6 % to −2.6 % is one point, not 64 %."""
    claim = replace(findings.OFF, expected=-1.6, got=-2.6, unit="%")
    assert difference(claim) == "−1\N{NO-BREAK SPACE}points"
    assert difference(replace(claim, unit="us")) == "+62.5\N{NO-BREAK SPACE}%"
    assert difference(replace(claim, expected="at most 1")) == ""


def test_tallies_by_basis() -> None:
    one = replace(findings.CLAIM, basis="independent")
    two = replace(findings.OFF, basis="independent", known_off=True)
    three = replace(findings.OUT, basis="", source="gillis2023")
    rows = summary.tallies([one, two, three, replace(one, source="zambre2021", basis="fitted")])
    assert [r.source for r in rows] == ["gillis2023", "zambre2021", "all"]
    gillis, _, both = rows
    assert (gillis.ok["independent"], gillis.checked["independent"], gillis.checked["fitted"]) == (1, 2, 0)
    assert (gillis.off, gillis.known_off, gillis.out_of_scope) == (1, 1, 1)
    assert (both.ok["independent"], both.ok["fitted"], both.checked["independent"]) == (1, 1, 2)


def test_off_claims_are_grouped_by_the_known_reason() -> None:
    lock = replace(findings.OFF, id="a", why="the lock", known_off=True)
    claims = [lock, replace(lock, id="b", why="the copy"), findings.CLAIM, replace(lock, id="c"), findings.OFF]
    grouped = summary.by_reason(claims)
    assert {reason: [c.id for c in found] for reason, found in grouped.items()} == {
        "": [findings.OFF.id],
        "the lock": ["a", "c"],
        "the copy": ["b"],
    }
    assert next(iter(grouped)) == ""


def test_headline_counts() -> None:
    claims = findings.report().claims
    assert summary.counts(claims) == {"off": 1, "ok": 3, "out of scope": 1}
    assert [c.status for c in summary.by_source(claims)["gillis2023"]] == ["off", "ok", "ok"]
    papers, live = summary.headline(findings.report())
    assert papers == "3 of 4 checked claims of 3 papers agree, 1 do not; 1 are out of scope."
    assert "1 of 2 checks keep their limits; over 120 cases" in live
    assert "1 of 2 negative controls are rejected" in live


# ---- figures --------------------------------------------------------------------------------------------------------


def test_figures_take_the_pages_colours_and_fonts() -> None:
    svg = figures.times(findings.cases(40), "x")
    assert "var(--ink)" in svg
    assert "var(--sans)" in svg
    assert not re.search(r"#0[0-9a-f]{5}\b", svg)
    assert "DejaVu" not in svg
    assert "<text" in svg


def test_every_case_is_a_mark() -> None:
    cases = findings.cases(40)
    fine = [c for c in cases if not summary.is_bulk(c)]
    drawn = marks(figures.gains(cases, "x"))
    approaches = {c.approach for c in fine}
    assert drawn == len(fine) + len(approaches)  # and one in the legend for each approach


def test_what_lies_beyond_the_axis_is_still_drawn() -> None:
    base = findings.cases(8)[2]
    far = [
        replace(base, eta_closed_form=base.eta_measured * f, buffer=2**k)
        for k, f in ((10, 100.0), (12, 0.001), (14, 1.0))
    ]
    svg = figures.residuals(far, "x")
    assert marks(svg) == 3 * 3 + 1
    assert len(re.findall(r"<use [^>]*fill-opacity: 0; stroke: var\(--s1\)", svg)) == 2


def marks(svg: str) -> int:
    """Points of the plot: `use` elements with a colour of the series or of what is off."""
    return len([u for u in re.findall(r"<use [^>]*>", svg) if re.search(r"var\(--s\d", u)])


def test_a_claim_far_off_stands_at_the_edge() -> None:
    far = [replace(findings.OFF, got=30.0 * f) for f in (1e9, 1e-9, float("inf"), 0.0)] + [findings.CLAIM]
    svg = figures.claims(far, "x")
    assert len(re.findall(r"<use [^>]*var\(--off\)", svg)) == 2 + 1  # the two that have a factor, and the legend


def test_the_median_is_that_of_neighbouring_sizes() -> None:
    """1000 and 1100 B are within a factor of four, 64 KiB is not: medians 2 (of 1 and 3) and 5."""
    x, y = figures._medians([1000.0, 1100.0, 65536.0], [1.0, 3.0, 5.0])
    assert y == [2.0, 5.0]
    assert x == [pytest.approx((1000 * 1100) ** 0.5), pytest.approx(65536)]


def test_two_runs_draw_the_same() -> None:
    assert figures.gains(findings.cases(40), "x") == figures.gains(findings.cases(40), "x")


# ---- a browser ------------------------------------------------------------------------------------------------------


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def browse(browser: str, file: Path, tmp_path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Open `file` without any network and return what the browser logs."""
    command: Sequence[str] = [
        browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0",
        "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={tmp_path / 'profile'}", *options, file.as_uri(),
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


@pytest.fixture(scope="module")
def browser() -> str:
    found = next((p for b in BROWSERS if (p := shutil.which(b))), None)
    if found is None:
        pytest.skip(f"none of {', '.join(BROWSERS)} on PATH")
    return found


@pytest.mark.thorough
def test_a_browser_opens_it_without_a_complaint(browser: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / "index.html"
    file.write_text(text, encoding="utf-8")
    done = browse(browser, file, tmp_path, "--dump-dom")
    assert "CONSOLE" not in done.stderr
    assert "Where the model is right" in done.stdout
    assert done.stdout.count("<svg") == 4


@pytest.mark.thorough
def test_a_browser_does_complain_of_a_broken_page(browser: str, tmp_path: Path) -> None:
    file = tmp_path / "index.html"
    file.write_text("<!doctype html><script>throw Error('broken')</script>", encoding="utf-8")
    assert "CONSOLE" in browse(browser, file, tmp_path, "--dump-dom").stderr


@pytest.mark.thorough
def test_the_screenshot_is_not_empty(browser: str, text: str, tmp_path: Path) -> None:
    from matplotlib.image import imread

    file, picture = tmp_path / "index.html", tmp_path / "shot.png"
    file.write_text(text, encoding="utf-8")
    browse(browser, file, tmp_path, f"--screenshot={picture}", "--window-size=1000,3000", "--hide-scrollbars")
    grey = np.asarray(imread(picture))[..., :3].mean(axis=2)
    inked = (grey != grey[0, 0]).any(axis=1)
    assert inked[2000:].any()  # the figures, far down
    assert 0.01 < (grey != grey[0, 0]).mean() < 0.5
