# What plots say: their names and descriptions for those who cannot see them, and the words within them.
# An argument that may be missing is "absent" then.

## Counts

plot-count =
    .repetitions = { $count ->
            [one] { $count } repetition
           *[other] { $count } repetitions
        }
    .sizes = { $count ->
            [one] { $count } size
           *[other] { $count } sizes
        }
    .means = { $count ->
            [one] { $count } mean of medians
           *[other] { $count } means of medians
        }

## The ladder

plot-ladder =
    .title = rates of { $direction }
plot-rung = { $rung } { $rate }{ $share ->
        [absent] {""}
       *[other] , { $share }
    }
    .not-measured = { $rung } not measured
    .loses = { $rung }: loses here

## Trials

plot-trials =
    .title = every trial of { $direction }, in the order of the blocks
    .arm = { $phase }, arm { $arm }: { $trials }, median { $median }
plot-block = block { $number }: { $rate }
plot-repetitions =
    .title = every repetition of { $workload }
    .description = { $repetitions }, median { $median }
    .one = repetition { $number }: { $rate }

## Experiments

plot-effects =
    .title = effects with their intervals
    .different = different
plot-interaction = { $response } by { $factor }
plot-sweep =
    .title = rate by size
    .description = { $sizes }, at most { $rate }
    .legend = open dots: write, full dots: read
