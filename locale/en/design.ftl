# What is said of experiments over several factors, and of tables that others measured.
# An argument that may be missing is "absent" then.

## The first sentence

design-so-far =
    .nothing = nothing is known yet
    .unsure = { $effect }, how sure is not known yet
design-headline =
    .alarm = the baseline differed from itself, so nothing here can be believed
    .alarm-in = the baseline differed from itself in { $response }{ $others ->
            [absent] {""}
           *[other] {" "}and { $others } more
        }, so nothing there can be believed
    .all-failed = nothing was measured: every trial failed
    .equal = no difference that matters
design-change = { $factor } { $level } instead of { $from }
design-together =
    .one = { $factors } act together on { $response }
    .many = { $pairs } pairs of factors act together on { $response }
design-unknown =
    .open = cannot tell yet: { $names }{ $blocks ->
            [absent] {""}
           *[other] {" "}({ $blocks } blocks would probably settle it)
        }
    .missing = never measured: { $names }

## What was found

design-form =
    .a-b = A against B
    .one-factor = one factor with { $levels } levels
    .full = full factorial
    .one-at-a-time = one factor at a time
    .fraction = fractional factorial 2^({ $factors }-{ $generators }) of resolution { $resolution }
    .split-plot = { $form }, split plot
    .instead = { $form } instead of a fraction, which takes { $factors } factors
design-progress = { $form }, { $done } of { $all } blocks
design-row =
    .left-out = left out:
    .aliased = cannot be told from each other:
    .hidden = { $arms } other arms, and { $comparisons } comparisons of two arms alone, are in the page of `linerate report` and in `--json`
    .processor = processor, s for each GB:
    .published = published:
    .combinations = with each combination of the others
design-arm =
    .replicate = { $arm } (once more)
    .first = the first level of each
design-noise =
    .alarm = { $response }: baseline against itself { $ratio }; that is no noise
    .found = { $response }: baseline against itself { $ratio }; differences are found from { $share } on
    .distinguished = { $response }: baseline against itself { $ratio }; two arms are told apart from { $share } on
    .few-blocks = { $response }: baseline against itself { $ratio }; too few blocks to say what could be found
design-pair = { $factor } { $level } instead of { $from }{ $others ->
        [absent] {""}
       *[other] {" "}with { $others }
    }: { $difference }{ $verdict ->
        [absent] {""}
       *[other] , { $verdict }
    }{ $blocks ->
        [absent] {""}
       *[other] ; { $blocks } blocks would probably settle it
    }
    .interaction = what { $one } { $level } does with { $other } { $at }, over what it does with { $first }: { $difference }{ $verdict ->
            [absent] {""}
           *[other] , { $verdict }
        }{ $blocks ->
            [absent] {""}
           *[other] ; { $blocks } blocks would probably settle it
        }
    .published = { $pair } (published: { $published })
design-figure =
    .by = { $factor } by { $other }
    .medians = , { $unit }: the medians of the arms, a line for each level
design-column =
    .samples = samples in { $unit }
design-effects = effects on { $response }
    .not-estimated = cannot be estimated

## Tables that others measured

table-rows = in { $unit }, { $rows ->
        [one] { $rows } row
       *[other] { $rows } rows
    }
    .unit-unknown = unit unknown, { $rows ->
            [one] { $rows } row
           *[other] { $rows } rows
        }
table-difference =
    .better = `{ $factor }={ $level }` is better than `{ $from }`: { $difference }
    .worse = `{ $factor }={ $level }` is worse than `{ $from }`: { $difference }
    .unknown = `{ $factor }={ $level }` differs from `{ $from }`: { $difference }
table-pair =
    .both = `{ $one }` and `{ $other }`
    .the-two = the two of `{ $pair }`
    .levels = { $levels } together
    .less-than-sum = { $both } together give { $size } less than their effects added up
    .less-than-product = { $both } together give { $size } less than their effects multiplied together
    .more-than-sum = { $both } together give { $size } more than their effects added up
    .more-than-product = { $both } together give { $size } more than their effects multiplied together
table-effects =
    .equivalent = no difference that matters: { $names }
    .undecided = cannot tell from these rows: { $names }
    .quiet-pairs = { $count ->
            [one] one pair of factors tested, no interaction shown
           *[other] { $count } pairs of factors tested, no interaction shown in them
        }
    .unsure = nothing says how sure these are: { $names }
    .not-estimated = cannot be estimated: { $names }
table-column =
    .changed = changed
    .from-to = from, to
    .interval = 95 % interval
    .ratio = ratio
    .p = p (Holm)
table-test = { $what }: { $letter }({ $degrees }) = { $statistic }, p { $p }{ $holm ->
        [absent] {""}
       *[other] , by Holm { $holm }
    }: { $verdict }
    .anova = one-way ANOVA over the arms of `{ $over }`
    .kruskal-wallis = Kruskal-Wallis over the arms of `{ $over }`
    .interaction = interaction { $pairs }
    .factor = all levels of `{ $over }`
    .other = { $name } over `{ $over }`
    .or = { $one } or { $other }
    .statistic = statistic
    .over-a-million = over a million
    .shown = a difference is shown
    .not-shown = no difference shown
table-warnings =
    .more = and { $count } more, see `--json`

## What a reader must know of an experiment

design-caveat =
    .above-ceiling = `{ $response }` came out at more than the { $ceiling } that fit through the NICs in use: the link is not what its facts say, or the bytes took another path
    .baseline-unchecked = { $blocks } blocks cannot tell whether the baseline differed from itself{ $responses ->
            [absent] {""}
           *[other] {" "}in { $responses } responses at once
        }; { $least } are needed
    .baseline-checked-roughly = { $blocks } blocks tell only where the baseline differed from itself a lot{ $responses ->
            [absent] {""}
           *[other] {" "}in { $responses } responses at once
        }; { $least } are needed
    .least-squares = { $blocks } blocks are too few to count the pairs of { $few } of { $all } effects after Holm's correction ({ $least } are needed): least squares judge these, and what the interval beside them does not say as well is not called a difference
    .measured-already = trials of visits that were measured already, which do not count: { $count }
    .not-estimated = the effects cannot be estimated yet: { $reason }

## What a reader must know of a table

table-alias =
    .by-block = { $effect } was changed from block to block only, like what else differs in them
    .changed-together = { $effect } cannot be told from { $effects }: they were changed together
    .never-together = `{ $pair }` cannot be estimated: its two factors were never changed together
    .never-varied = { $effect } never occurs, or always: it has no effect of its own to estimate
    .of-design = { $alias }: these interactions cannot be told from each other in this design
    .of-pairs = { $effects } cannot be told from { $pairs }
    .one-contrast = { $pairs } are one and the same contrast in these rows
    .pair = `{ $pair }` cannot be told from { $effects }
    .with = { $one } with { $other }
table-arm =
    .failed = arm `{ $arm }`: { $left_out } of { $all } runs of `{ $command }` failed ({ $how }) and are left out
    .unfinished = arm `{ $arm }`: { $left_out } of { $all } results of fio are what it said of a run that went on; only the last of each run counts
table-conditional = the effect of `{ $factor }` is the one at `{ $at }`, because their interaction was asked for
table-direction = nothing says whether more of `{ $response }` is better, so no difference in it is called better or worse: say it with `--better higher` or `--better lower`
table-interaction =
    .not-added = `{ $pair }`: their effects do not add up: x{ $one } by the first alone, x{ $other } by the second alone, x{ $both } by both{ $better ->
            [lower] , where above 1 is better
           *[higher] {""}
        }{ $tested ->
            [no] {" "}(not tested: no degree of freedom is left)
           *[yes] {""}
        }
    .not-multiplied = `{ $pair }`: their effects do not multiply: x{ $one } by the first alone, x{ $other } by the second alone, x{ $both } by both{ $better ->
            [lower] , where above 1 is better
           *[higher] {""}
        }{ $tested ->
            [no] {" "}(not tested: no degree of freedom is left)
           *[yes] {""}
        }
    .only-together = `{ $pair }`: only both together change it: x{ $one } by the first alone, x{ $other } by the second alone, x{ $both } by both{ $better ->
            [lower] , where above 1 is better
           *[higher] {""}
        }{ $tested ->
            [no] {" "}(not tested: no degree of freedom is left)
           *[yes] {""}
        }
table-interactions-skipped =
    .no-rows = interactions were not looked at: the main effects use up all rows
    .too-many = interactions were not looked at: there are too many of them; name those that matter as `a:b`
table-left-out = { $reason }: it is left out
    .response = `{ $response }` is left out: { $reason }
table-mean-against-median = `{ $effect }`: mean and median point in opposite directions; look at the rows
table-missing = row { $row } has no `{ $column }` and is left out
    .more = { $more } more rows have an empty cell and are left out
table-mixed-up =
    .binary-prefix = a binary prefix too much or too little, as KiB for MiB
    .binary-unit = MiB for MB
    .bits = bits for bytes
    .prefix = a prefix too much or too little, as kB for MB
    .thousands = thousands for ones
    .time = a prefix too much or too little, as ms for us
table-no-rate = row { $row }: { $value } is no rate: if the run failed, leave the cell empty or the row out
    .more = { $more } more rows have 0 { $unit } or less
table-order =
    .repeated = the { $rows } rows are the first { $period } of them { $times } times, with the same values: rows that were copied are no measurements, leave them out
    .values-fall = all rows of a level stand together, and within the levels the values fall from row to row: what changes with time looks like a difference here; measure the levels in turn, and say which rows were measured together (`--blocks COLUMN`)
    .values-rise = all rows of a level stand together, and within the levels the values rise from row to row: what changes with time looks like a difference here; measure the levels in turn, and say which rows were measured together (`--blocks COLUMN`)
table-outlier = row { $row }: { $value } stands apart, { $expected } was to be expected; it is kept
table-power =
    .about = `{ $effect }`: about { $needed } rows like these { $rows } would settle it{ $found ->
            [absent] {""}
           *[other] ; these find a difference of { $found } four times out of five
        }
    .more-than = `{ $effect }`: more than { $needed } rows like these { $rows } would settle it{ $found ->
            [absent] {""}
           *[other] ; these find a difference of { $found } four times out of five
        }
    .over-a-thousand = more than 1000 %
table-robust-errors = `{ $effect }` would be { $robust } instead of { $verdict } if the rows may differ in noise (HC3 errors)
table-runs =
    .means = the { $rows } rows are of { $runs } runs, by `{ $column }`: the mean of each run is one measurement
    .one-of-each = the { $rows } rows are of { $runs } runs, one of each level, by `{ $column }`: one run is one measurement, whatever its rows say; measure each level in several runs, in turn, 6 or more of each
    .stretches = { $rows } rows or more of each level stand in one stretch, as the intervals of one run do, and one run is one measurement: say which rows are of one run (`--runs COLUMN`) or were measured together (`--blocks COLUMN`)
table-slip =
    .above = row { $row }: { $value } is about { $times } times above what rows like it have: likely a slip of unit ({ $mixed_up }); { $corrected } would fit
    .below = row { $row }: { $value } is about { $times } times below what rows like it have: likely a slip of unit ({ $mixed_up }); { $corrected } would fit
    .level = all rows of `{ $effect }` are about { $times } times apart: another unit?
table-spelling = `{ $factor }` has `{ $one }` and `{ $other }`, taken as two levels: is it one, written in two ways?
table-unsure =
    .exact-fit = the model fits every row exactly: rounded or computed figures; nothing says how sure the estimates are
    .one-row = an estimate rests on row { $row } alone, and nothing checks it
    .pair = `{ $pair }` leaves no row over to say how sure it is: measure again, then ask again
    .plots = { $effects } changed from plot to plot only, and there are too few plots to say how sure that is: measure more blocks
    .rows = { $rows } rows for { $parameters } parameters: no degree of freedom is left, so nothing says how sure the estimates are
    .unreplicated = every combination was measured once: the intervals rest on the effects adding up

## Results of other programs, before and after

no-verdict =
    .few-runs = { $runs } runs are too few for any verdict; { $least } of each are needed
    .interval = the interval holds both no change and one that matters
    .one-run = one run is one measurement: it cannot tell a change from the noise of runs
