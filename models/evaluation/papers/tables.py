"""The papers' tables in shape, of the runs that are done: F1 over all seeds with intervals, and what differs.

A row is a system; its seeds' hits, predictions and gold marks are added up block by block, and the blocks are drawn
(``scoring``), so an interval holds what the text leaves open and not what another training would
give: ``seeds`` beside it is the range of the seeds' own F1. Two rows are compared on the same draws, seed by seed; a
row of one seed (a mean of weights) with all seeds of the other.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from caesura.models.data.joint_marks import Run
from caesura.models.data.packed_tests import PackedTest
from caesura.models.evaluation.figures import EITHER, MARK_CLASSES, TAG_CLASSES
from caesura.models.evaluation.scoring import BLOCK_TOKENS, Counts, count_blocks, difference, scored
from caesura.schemas.labels import Punctuation

JOINT_CLASSES = {
    "period": {2},
    "comma": {1},
    "question": {3},
    "exclamation": {4},
    "semicolon": {5},
    "colon": {6},
    "quotes": {7},
    "dash": {8},
    "brackets": {9, 10},
    "ellipsis": {11},
}
_JOINT, _OVERALL = "joint", "overall"


def count_runs(gold: Sequence[Run], said: Sequence[Run]) -> dict[str, Counts]:
    """Count each mark, joint marks as wholes, and all marks, block by block."""
    blocks = -(-len(gold) // BLOCK_TOKENS)
    counts = {name: np.zeros((blocks, 3), dtype=np.int64) for name in (*JOINT_CLASSES, _JOINT, _OVERALL)}
    names = {atom: name for name, atoms in JOINT_CLASSES.items() for atom in atoms}
    for place, (wanted, got) in enumerate(zip(gold, said, strict=True)):
        block = place // BLOCK_TOKENS
        for column, marks in enumerate((Counter(wanted) & Counter(got), Counter(got), Counter(wanted))):
            for atom, times in marks.items():
                counts[names[atom]][block, column] += times
                counts[_OVERALL][block, column] += times
        joint = (len(wanted) > 1 and wanted == got, len(got) > 1, len(wanted) > 1)
        counts[_JOINT][block] += np.array(joint, dtype=np.int64)
    return counts


LabelRows = NDArray[np.int8]
BySeed = dict[str, Counts]
Tables = Callable[[Path, Path, Path], Iterator[tuple[str, str]]]
_ORDERS = ("fs", "dp", "pd")
_TAGS = ("reparandum", "either")
_MARKED = ("REF", "ASR", "swda")


class Results:
    """The labels of all runs of a folder, by system, test and cut, counted against the gold ones."""

    def __init__(self, data: Path, tests: Path, out: Path) -> None:
        """Read what was labelled; tests are read when they are asked for."""
        self._tests = tests
        self._runs = data / "runs.json"
        self._labels: dict[str, dict[str, Mapping[str, LabelRows]]] = defaultdict(dict)
        for path in sorted(out.glob("*.npz")):
            name, seed = path.stem.rsplit(".", 1)
            self._labels[name][seed] = dict(np.load(path))
        self._gold: dict[str, PackedTest] = {}
        self._out = out

    def facts(self, system: str) -> dict[str, Any]:
        """Return the facts of a system's first seed: its parameters, the words that it read."""
        seed = next(iter(self._labels[system]))
        facts: dict[str, Any] = json.loads((self._out / f"{system}.{seed}.json").read_text(encoding="utf-8"))
        return facts

    def systems(self, beginning: str = "") -> list[str]:
        """Return the names of the systems that are done in at least one seed."""
        return [name for name in self._labels if name.startswith(beginning)]

    def keys(self, system: str) -> list[str]:
        """Return the tests with their cuts, ``test|cut``, that a system was labelled on in its first seed."""
        return list(next(iter(self._labels[system].values())))

    def marks(self, system: str, key: str) -> dict[str, BySeed]:
        """Return the counts of the marks by class, then by seed."""
        gold = self._test(key).text.punctuation.tolist()
        return self._by_class(system, key, lambda labels: count_blocks(gold, labels[0].tolist(), MARK_CLASSES))

    def tags(self, system: str, key: str) -> dict[str, BySeed]:
        """Return the counts of the tags by class, then by seed."""
        gold = self._test(key).text.disfluency.tolist()
        classes = TAG_CLASSES | EITHER
        return self._by_class(system, key, lambda labels: count_blocks(gold, labels[1].tolist(), classes))

    def runs(self, system: str, key: str) -> dict[str, BySeed]:
        """Return the counts of joint marks by class, then by seed."""
        table: list[Run] = [tuple(run) for run in json.loads(self._runs.read_text(encoding="utf-8"))]
        gold = [table[number] for number in self._test(key).text.punctuation]
        return self._by_class(system, key, lambda labels: count_runs(gold, [table[number] for number in labels[0]]))

    def given_ends(self, test: str) -> dict[str, Counts]:
        """Return the counts of what knows nothing but the cut: a period at the end of each sentence that is given."""
        packed = self._test(test)
        marks = np.zeros(packed.text.words, dtype=np.int8)
        marks[packed.sentences[:, 1] - 1] = int(Punctuation.PERIOD)
        return count_blocks(packed.text.punctuation.tolist(), marks.tolist(), MARK_CLASSES)

    def _by_class(self, system: str, key: str, count: Callable[[LabelRows], dict[str, Counts]]) -> dict[str, BySeed]:
        found: dict[str, BySeed] = defaultdict(dict)
        for seed, labels in self._labels.get(system, {}).items():
            if key in labels:
                for name, counts in count(labels[key]).items():
                    found[name][seed] = counts
        return found

    def _test(self, key: str) -> PackedTest:
        name = key.split("|", 1)[0]
        if name not in self._gold:
            self._gold[name] = PackedTest.load(self._tests / f"{name}.npz")
        return self._gold[name]


def f1_cell(seeds: Mapping[str, Counts]) -> str:
    """Return F1 over the seeds with its interval; nothing where none is done."""
    if not seeds:
        return "–"
    return str(scored(np.sum([*seeds.values()], axis=0)))


def _range(seeds: Mapping[str, Counts]) -> str:
    each = [scored(counts).f1 for counts in seeds.values()]
    return f"{min(each):.1f} to {max(each):.1f} ({len(each)})" if each else "–"


def _less(first: Mapping[str, Counts], second: Mapping[str, Counts], *, lone: bool = False) -> str:
    """Return F1 of the first row less the second's, over the seeds that both have. lone: over all of the second's."""
    seeds = [seed for seed in second if lone or seed in first]
    if not first or not seeds:
        return "–"
    ours = [next(iter(first.values()))] * len(seeds) if lone else [first[seed] for seed in seeds]
    return str(difference(np.sum(ours, axis=0), np.sum([second[seed] for seed in seeds], axis=0)))


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of cells."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def joint_tables(data: Path, tests: Path, out: Path) -> Iterator[tuple[str, str]]:
    """Yield tables 2 and 4 of Lin & Wang 2020, and what each step adds."""
    results = Results(data, tests, out)
    singles = ("single, marks of talks", "single, marks of Switchboard", "single, tags of Switchboard")
    combined = [f"{order}, {way}" for way in ("SEP", "COMBINE") for order in _ORDERS]
    names = [name for name in (*singles, *combined) if name in results.systems()]
    classes = (*MARK_CLASSES, "overall")
    for test in _MARKED:
        key = f"{test}|running"
        rows = [
            [name, *(f1_cell(marks[one]) for one in classes), _range(marks["overall"])]
            for name in names
            if (marks := results.marks(name, key)) and "tags" not in name
        ]
        yield f"Marks on {test}, running text", markdown(("system", *classes, "seeds, overall"), rows)
    cuts = {"short": "swda|sentences", "long": "swda|running", "stream": "swda|stream"}
    tagged = [name for name in names if "marks" not in name] + results.systems("fs, masked") + results.systems("pd, m")
    rows = [
        [
            name,
            *(f1_cell(results.tags(name, key)[label]) for key in cuts.values() for label in _TAGS),
            _range(results.tags(name, cuts["long"])["either"]),
        ]
        for name in tagged
    ]
    head = [f"{cut}, {label}" for cut in cuts for label in _TAGS]
    yield "Tags on Switchboard", markdown(("system", *head, "seeds, long, either"), rows)
    labels = [f"{cut}, {label}" for cut in cuts for label in _TAGS]
    columns = ("system", "less", *labels, *(f"marks, {test}" for test in _MARKED))
    yield "What each adds, F1", markdown(columns, list(_added(results, cuts)))


def _added(results: Results, cuts: Mapping[str, str]) -> Iterator[list[str]]:
    pairs = [(f"fs, {way}", "single, tags of Switchboard") for way in ("SEP", "COMBINE")]
    pairs += [(f"{order}, {way}", f"fs, {way}") for way in ("SEP", "COMBINE") for order in ("dp", "pd")]
    pairs += [("pd, masked", "fs, masked")]
    for first, second in pairs:
        tags = [(results.tags(first, key), results.tags(second, key)) for key in cuts.values()]
        learnt = "talks" if "SEP" in first else "Switchboard"
        against = f"single, marks of {learnt}" if "single" in second else second
        marks = [[results.marks(name, f"{test}|running")["overall"] for name in (first, against)] for test in _MARKED]
        yield [
            first,
            second,
            *(_less(one[label], other[label]) for one, other in tags for label in _TAGS),
            *(_less(*pair) for pair in marks),
        ]


def self_training_tables(data: Path, tests: Path, out: Path) -> Iterator[tuple[str, str]]:
    """Yield table 4 of Chen et al. 2021 with every setting that was tried, and the sweep of the windows."""
    results = Results(data, tests, out)
    columns = ("dev tuning", "dev reported", "REF", "ASR")
    names = [name for start in ("baseline", "alpha", "mean", "again") for name in results.systems(start)]
    overall = {(name, test): results.marks(name, f"{test}|running")["overall"] for name in names for test in columns}
    rows = [[name, *(f1_cell(overall[name, test]) for test in columns), _range(overall[name, "REF"])] for name in names]
    yield "Overall F1, all seeds", markdown(("system", *columns, "seeds, REF"), rows)
    against = [(name, base) for base in ("baseline", "alpha 1.0") for name in names if name != base]
    compared = [
        [name, base, *(_less(overall[name, test], overall[base, test], lone="mean" in name) for test in columns)]
        for name, base in against
        if base in names
    ]
    yield "Differences", markdown(("system", "less", *columns), compared)
    swept = [
        key
        for key in (results.keys("baseline") if "baseline" in names else [])
        if key.startswith("dev tuning|running|")
    ]
    rows = [[*key.split("|")[2].split(","), f1_cell(results.marks("baseline", key)["overall"])] for key in swept]
    yield "Windows on the tuning half, baseline of the first seed", markdown(("size", "left", "right", "F1"), rows)


def sapr_tables(data: Path, tests: Path, out: Path) -> Iterator[tuple[str, str]]:
    """Yield tables I and II of Wang et al. 2018."""
    results = Results(data, tests, out)
    kinds = ("t-brnn", "word-cnn", "sapr")
    classes = ("period", "comma", "question", "overall")
    for test in ("REF", "ASR"):
        rows = [
            [kind, trained, cut, *(f1_cell(marks[one]) for one in classes), _range(marks["overall"])]
            for cut in ("sentences", "running")
            for kind in kinds
            for trained in ("sentences", "running")
            if (marks := results.marks(f"{kind}, {trained}", f"{test}|{cut}"))
        ]
        ends = results.given_ends(test)
        rows.insert(
            0, ["a period at each given end", "–", "sentences", *(f1_cell({"": ends[one]}) for one in classes), "–"]
        )
        yield f"Table I on {test}", markdown(("system", "trained on", "reads", *classes, "seeds, overall"), rows)
    joint = (*JOINT_CLASSES, "joint", "overall")
    for test in ("joint novels", "joint talk"):
        found = {kind: results.runs(f"{kind}, joint", f"{test}|running") for kind in ("word-cnn", "sapr")}
        rows = [[one, *(f1_cell(found[kind].get(one, {})) for kind in found)] for one in joint]
        yield f"Table II on {test}", markdown(("mark", *found), rows)


TABLES: dict[str, Tables] = {"joint": joint_tables, "self-training": self_training_tables, "sapr": sapr_tables}
