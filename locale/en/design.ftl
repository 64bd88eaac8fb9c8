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
