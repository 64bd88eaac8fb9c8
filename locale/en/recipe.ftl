# What is said of recipes of `bench`: their figures, and what these mean.
# An argument that may be missing is "absent" then.

## The first sentence

recipe-headline = { $recipe }: at most { $best }
    .one = { $direction } { $rate } ({ $test })
    .not-believed = { $recipe }: nothing that can be believed
    .each = { $recipe }: see each test
recipe-played =
    .none = { $recipe }: frames are missed in { $fails }
    .all = { $recipe }: no frame missed in { $plays }
    .some = { $recipe }: no frame missed in { $plays }; frames are missed in { $fails }

## What the numbers mean

recipe-note =
    .figure = the figure is the { $figure } of the passes
    .original = the figure is what { $recipe } gives: { $about }
    .zeros = the data are zeros: whatever packs them on the way looks faster
recipe-figure =
    .best = best
    .mean = mean
    .median = median
recipe-cache =
    .client = client cache: the operations went through it, so that these are no figures of a disk or a network
    .memory = memory of the client that serves as a disk answered
    .server = server cache: its memory has room for the whole test file; disks behind it may be slower
    .server-or-media = server cache or its disks: which of them answered cannot be seen from here
    .any-or-media = a cache or the disks: whether direct operations pass the cache of this file system by is not known
    .media = media: the client's cache was passed by
recipe-units = MB are 10^6 bytes here and MiB 2^20; which of them the original counts in is not known: at most { $best }
    .one = { $direction } { $decimal } or { $binary }

## Each test

recipe-column =
    .test = test
    .way = way
    .figure = figure
    .per-second = per second
    .latency = latency
    .percentiles = 50 / 99 / 99.9 %
recipe-test =
    .few-passes = too few passes
    .latency = latency { $latency }, 50 / 99 / 99.9 % { $percentiles }
    .exceeded = more than the { $rate } that fit through the NICs in use
    .none-missed = none of { $frames } missed
    .missed = { $missed } of { $frames } missed, at most { $late } late
    .copied = in { $time }, first byte after { $first }
    .failed = { $test } { $direction } failed:
recipe-sweep =
    .title = write and read by size
    .figure = of each size: the { $figure } of the passes
    .with-interval = their median and its interval
    .few-passes = their median (too few for an interval)
    .cost = what a byte costs our processors
