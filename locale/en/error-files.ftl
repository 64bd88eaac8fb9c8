# Errors of files: run files, plans and recipes, what is kept or named on a disk, tables, experiments.
# An argument that may be missing is "absent" then.

## The system

system-error =
    .not-found = { $text }
    .permission-denied = { $text }
    .already-exists = { $text }
    .not-a-directory = { $text }
    .is-a-directory = { $text }
    .storage-full = { $text }
    .read-only = { $text }
    .connection-refused = { $text }
    .connection-reset = { $text }
    .host-unreachable = { $text }
    .network-unreachable = { $text }
    .timed-out = { $text }
    .broken-pipe = { $text }

## Run files

error-file =
    .cannot = cannot { $action } the run file `{ $path }`
    .cannot-open = cannot open the run file `{ $path }`
    .cannot-read = cannot read the run file `{ $path }`
    .cannot-write = cannot write the run file `{ $path }`
    .cannot-lock = cannot lock the run file `{ $path }`
    .cannot-sync-folder = cannot sync the folder of the run file `{ $path }`
    .cannot-cut-line = cannot cut the last line of the run file `{ $path }`
    .in-use = another linerate is writing the run file `{ $path }`
    .line = line { $line } of the run file `{ $path }` cannot be understood: { $reason }
    .not-a-run = `{ $path }` is not a run file of this program: { $reason }
    .too-large = the run file `{ $path }` is too large: { $reason }
    .empty = it is empty
    .first-line-cut = its first line, line 1, was cut off
    .no-header = its first line, line 1, is no complete header: { $reason }
    .no-format = its first line, line 1, does not say `"format":"{ $format }"`
    .version = line 1 says version { $version } and this program reads 1 to { $known }; { $program ->
            [absent] update linerate
           *[other] `{ $program }` wrote it: read it with that version or a newer one
        }
    .bad-header = its header, line 1, is damaged: { $reason }
    .bytes-of-line = { $line ->
            [absent] a line of it
           *[other] line { $line }
        } has more than { $most } bytes
    .elements-of-line = { $line ->
            [absent] a line of it
           *[other] line { $line }
        } has more than { $most } elements of lists
    .in-line = in line { $line } { $reason }
    .up-to-line = up to line { $line } { $reason }
    .many-trials = there are more than { $most } trials
    .many-schedules = there are more than { $most } schedules of trials
    .bytes-of-trials = there are more than { $most } bytes of trials
    .bytes-of-records = there are more than { $most } bytes of records
    .factors = it has { $number } factors, and { $most } are the most that are analysed
    .levels-of-factor = it has { $number } levels of a factor, and { $most } are the most that are analysed
    .arms = it has { $number } arms, and { $most } are the most that are analysed
    .levels-in-arm = it has { $number } levels in an arm, and { $most } are the most that are analysed
    .blocks = it has { $number } blocks, and { $most } are the most that are analysed
    .trials = it has { $number } trials, and { $most } are the most that are analysed
    .names = it has { $number } names of levels in all arms of all responses, and { $most } are the most that are analysed
    .bytes-of-names = it has { $number } bytes of such names, and { $most } are the most that are analysed
    .folder = it is a folder
    .not-regular = it is a pipe, a socket or a device, and no regular file
    .not-utf-8 = line { $line } is not text in UTF-8
    .long = it has more than { $most }
    .long-line = line { $line } has more than { $most }
    .long-to-line = up to line { $line } it has more than { $most }

## Plans and recipes

error-mistake =
    .on-line = line { $line }: { $reason }
    .factors = it has { $count } factors; 1 to { $most } are possible
    .factor-name = a factor is called `{ $name }`: { $reason }
    .factor-reserved = a factor cannot be called `{ $name }`
    .factor-again = two factors are called `{ $name }`
    .both-set = `{ $other }` and `{ $name }` both set `{ $place }`
    .above-zero = `{ $name }` must be above 0 and at most { $most }, not { $value }
    .band = `band_percent` must be 0 or more and below 100, not { $band }
    .number = `{ $name }` must be 1 to { $most }, not { $count }
    .levels = `{ $factor }` has { $count } levels; 2 to { $most } are possible
    .level-name = a level of `{ $factor }` is called `{ $name }`: { $reason }
    .level-again = two levels of `{ $factor }` are called `{ $name }`
    .levels-alike = the levels `{ $other }` and `{ $name }` of `{ $factor }` set the same
    .settings = level `{ $name }` of `{ $factor }` sets more than { $most } places
    .set-again = level `{ $name }` of `{ $factor }` sets `{ $place }` twice
    .no-name = it needs a name
    .name-of-nothing = that means `not measured` in a table; take another word
    .name-unprintable = it has spaces at an end, or something that cannot be printed
    .name-of-pair = `a:b` is how two factors act together; take another sign
    .name-long = it is longer than { $most } characters
    .one-line = its title and what was published are text of one line, { $most } characters at most
    .tests = it has { $count } tests; 1 to { $most } are possible
    .passes = `passes` must be 1 to { $most }, and `discard` not more
    .times = its times must be 0.05 s to an hour for a pass, at most an hour else
    .write-through = `write_through` needs a test that writes to the test file
    .file-size = its test file has more than { $most } bytes
    .test-again = two tests are called `{ $name }`
    .directions = `{ $name }` needs `read`, `write` or both, each once
    .opposite = `other_way_percent` of `{ $name }` must be 0 to 99
    .block = the blocks of `{ $name }` do not fit into the test file
    .streams = `{ $name }` has { $count } streams; 1 to { $most } are possible
    .under-way = `{ $name }` has { $count } operations under way; 1 to { $most } are possible
    .task-of-tcp = `{ $name }` has a `task`, and raw TCP has no files
    .of-task = the task of `{ $name }`: { $reason }
    .task-direction = `{ $name }` needs `directions = ["{ $direction }"]`
    .task-files = it must have 1 to { $most } files, locks or frames
    .task-bytes = it moves more than { $most } bytes
    .spread = `spread` needs `size_max`
    .no-folders = several files need `folders`
    .many-folders = it has more folders than files
    .empty-files = files of no bytes are not copied
    .size-max = `size_max` must not be smaller than `size`
    .play = a frame has bytes, { $frames } of them in a second, { $ahead } ahead and { $streams } streams are possible

## What is kept or named on a disk

error-os =
    .cannot = cannot { $action } `{ $path }`
    .cannot-create = cannot create `{ $path }`
    .cannot-find = cannot find `{ $path }`
    .cannot-follow = cannot follow `{ $path }`
    .cannot-list = cannot list `{ $path }`
    .cannot-look-at = cannot look at `{ $path }`
    .cannot-make = cannot make `{ $path }`
    .cannot-name-new-file = cannot name a new file for `{ $path }`
    .cannot-open = cannot open `{ $path }`
    .cannot-read = cannot read `{ $path }`
    .cannot-remove = cannot remove `{ $path }`
    .cannot-rename = cannot rename `{ $path }`
    .cannot-sync = cannot sync `{ $path }`
    .cannot-write = cannot write `{ $path }`
    .not-regular = { $path ->
            [absent] it
           *[other] `{ $path }`
        } is no regular file
    .hard-link = { $path ->
            [absent] it
           *[other] `{ $path }`
        } has another name as well, by a hard link
    .no-such-name = { $path ->
            [absent] it
           *[other] `{ $path }`
        } has no file of the name `{ $name }`
    .no-name = { $path ->
            [absent] it
           *[other] `{ $path }`
        } is no name of a file
    .link-not-written = { $path ->
            [absent] it
           *[other] `{ $path }`
        } is a symbolic link, and linerate writes through none
    .link-not-followed = { $path ->
            [absent] it
           *[other] `{ $path }`
        } is a symbolic link, and linerate follows none here
    .folder = { $path ->
            [absent] it
           *[other] `{ $path }`
        } is a folder
    .not-a-folder = { $path ->
            [absent] it
           *[other] `{ $path }`
        } is no folder
    .other-owner = { $path ->
            [absent] it
           *[other] `{ $path }`
        } belongs to the user with the number { $user }
    .owner-is-another = { $path ->
            [absent] it
           *[other] `{ $path }`
        } belongs to another user
    .written-by-group = { $path ->
            [absent] it
           *[other] `{ $path }`
        } can be written by its group
    .written-by-everybody = { $path ->
            [absent] it
           *[other] `{ $path }`
        } can be written by everybody
    .leads-out = { $path ->
            [absent] it
           *[other] `{ $path }`
        } leads out of the folder of the file that names it
    .no-name-below = { $path ->
            [absent] it
           *[other] `{ $path }`
        } is no name of a file below the one that names it
    .through-link = { $path ->
            [absent] it
           *[other] `{ $path }`
        } is a symbolic link or leads through one, and none is followed here
    .descriptor = { $path ->
            [absent] it
           *[other] `{ $path }`
        } is a descriptor that another program opened, and linerate keeps none of those
    .link-of-other = { $path ->
            [absent] it
           *[other] `{ $path }`
        } is a symbolic link that belongs to the user with the number { $user }
    .no-path = { $path ->
            [absent] it
           *[other] `{ $path }`
        } leads to something without a path here: a pipe, or a file of another system
    .exchanged = another user has exchanged the folder that was made here
hint-os =
    .not-written-by-us = linerate did not write it: look who did, and remove it
    .not-made-by-us = linerate did not make it: look who did, and remove it
    .file-of-folder = name a file of that folder
    .name-a-file = name a file
    .name-a-regular-file = name a regular file
    .file-in-it = name a file in it
    .new-or-regular = name a file that is not there yet, or a regular one; `/dev/stdout` is none
    .copy-it = what is added to it would stand in the other as well; copy it
    .folder-of-root = run linerate as that user, or name a folder of root's (LINERATE_STATE_DIR for its state)
    .own-folder = name a folder of your own (LINERATE_STATE_DIR for its state)
    .chmod = look into it, then `chmod go-w '{ $file }'`, or name another place
    .below = put the file into the folder of the one that names it, or below it, and name it from there
    .name-the-file = name the file itself; what a program prints has to be put into a file first
    .links-of-root = root follows links of root only: name what it leads to, or run linerate as that user

## Tables, and results of other programs

error-table =
    .too-large = the table has more than { $limit } { $what }{ $line ->
            [absent] {""}
           *[other] {" "}(line { $line })
        }
    .many-bytes = the table has more than { $limit } bytes{ $line ->
            [absent] {""}
           *[other] {" "}(line { $line })
        }
    .many-columns = the table has more than { $limit } columns{ $line ->
            [absent] {""}
           *[other] {" "}(line { $line })
        }
    .many-rows = the table has more than { $limit } rows{ $line ->
            [absent] {""}
           *[other] {" "}(line { $line })
        }
    .many-cells = the table has more than { $limit } cells{ $line ->
            [absent] {""}
           *[other] {" "}(line { $line })
        }
    .bytes-in-cells = the table has more than { $limit } bytes in its cells{ $line ->
            [absent] {""}
           *[other] {" "}(line { $line })
        }
    .many-parameters = the table has more than { $limit } parameters{ $line ->
            [absent] {""}
           *[other] {" "}(line { $line })
        }
    .rows-times-parameters = the table has more than { $limit } rows times parameters{ $line ->
            [absent] {""}
           *[other] {" "}(line { $line })
        }
    .many-arms = the table has more than { $limit } arms{ $line ->
            [absent] {""}
           *[other] {" "}(line { $line })
        }
    .many-runs = the table has more than { $limit } runs{ $line ->
            [absent] {""}
           *[other] {" "}(line { $line })
        }
    .none = the table has no { $what }
    .no-header = the table has no header
    .no-data = the table has no rows of data
    .no-arms = the table has no arms
    .ragged = row { $row } (line { $line }) has { $cells } cells, the header has { $columns }
    .long-cell = row { $row } (line { $line }), column `{ $column }`: a cell of more than { $most } bytes
    .csv = cannot read the table as CSV
    .duplicate-column = column `{ $column }` occurs twice in the header
    .not-a-number = row { $row }, column `{ $column }`: `{ $cell }` is not a number
    .json = this is JSON, and no table
    .no-rows = no row of `{ $response }` is complete
    .one-level = factor `{ $factor }` has one level, `{ $level }`, in all { $rows } rows
    .no-baseline = no complete row of `{ $response }` has `{ $factor }={ $level }`, which others are held against
    .many-levels = factor `{ $factor }` has more than { $most } levels
    .few-rows = { $rows } rows of `{ $response }` cannot tell { $parameters } parameters apart
    .all-equal = every row of `{ $response }` has the same value, { $value }
    .out-of-range = the values of `{ $response }` are too large or too small to calculate with
    .no-such-column = there is no column `{ $column }`
    .no-such-level = column `{ $column }` has no `{ $cell }`
    .two-roles = column `{ $column }` is asked for twice, as factor, response or block
    .no-factor = no factor was given
    .no-response = no response was given
    .bad-interaction = `{ $name }` is not an interaction of two of the factors
    .not-a-factor = `{ $column }` is to have a baseline, and it is no factor
    .band = the band of equivalence must be at least 0 % and less than 100 %, not { $percent } %
    .one-arm = arm `{ $arm }` stands alone: there is nothing to compare it with
    .different-arms = arm `{ $arm }` has { $own }, and arm `{ $first }` has { $others }
    .arm = arm `{ $arm }`: { $reason }
    .arm-json = arm `{ $arm }`: cannot read the JSON (line { $line }): { $reason }
    .large-file = the file has more than { $most } MiB
    .empty-file = the file is empty
    .unknown-file = it is no result file of CrystalDiskMark, ATTO, DiskSpd, robocopy, iperf3, fio or hyperfine
    .unknown-json = it is no result of iperf3, fio or hyperfine
    .failed-run = the run failed: { $reason }
    .failed-job = job `{ $job }` of fio failed with error { $error }
    .stream-of-events = it is a stream of events, and no single result of iperf3
    .stopped-iperf3 = iperf3 was stopped before it wrote a result
    .nothing-measured = nothing was measured in it
    .bad-value = it has a value that is negative or no number
    .long-job = the name `{ $job }` of a job has more than { $most } bytes
    .no-run-ended-well = no run of `{ $command }` ended well: { $how }
    .exit-code = exit code { $codes }
    .exit-codes = exit codes { $codes }
    .exit-code-or-signal = exit code { $codes }, ended by a signal
    .exit-codes-or-signal = exit codes { $codes }, ended by a signal
    .by-signal = ended by a signal
    .runs-in-file = it has more than { $most } runs
    .results-in-file = it has more than { $most } results
    .results-of-run = run { $run } in it has more than { $most } results
    .of-run = run { $run } in it: { $reason }
    .no-result = it is of { $program }, and no result is in it
    .no-totals = a line `total:` without numbers
    .not-copied = { $files } files were not copied
    .no-speed = it does not say how fast it was: nothing was copied, or it was stopped
hint-table =
    .part-of-it = analyse a part of it: fewer rows, columns or factors
    .header-and-rows = the first line names the columns, each line below it is one measurement
    .cell-per-column = write one cell per column; put quotes around a cell that contains the separator, and write decimals with a point
    .save-as-csv = save it as CSV in UTF-8, and look for a quote that is not closed
    .empty-cells = look for empty cells among its values, and in the columns of the factors
    .own-names = give each column a name of its own
    .columns = the columns are { $columns }
    .each-once = name each column once: measured, varied, or the block
    .name-factors = name the columns that were varied; an interaction `a:b` comes after its two factors, as `a,b,a:b`
    .name-response = name a column with measured values
    .interaction = write `a:b` with two different factors that are named too
    .vary-it = leave it out of the factors, or keep rows in which it is different
    .baseline = measure it too, or name another with `--baseline`
    .a-measurement = it looks like a measurement; give it as a response, or group its values
    .cells = in it are { $cells }
    .name-it-too = name it among the factors too
    .more-rows = measure more rows, or ask for fewer factors and interactions
    .right-column = nothing can be compared: check that the right column, or the right files, were given
    .other-unit = write them in a larger or smaller unit
    .usual-band = 2 is usual: two percent of the baseline
    .as-arms = give results of iperf3, fio or hyperfine as arms: `NAME=FILE NAME=FILE`
    .two-arms = give two arms or more: `before=FILE after=FILE`
    .same-measurement = compare the same measurement by the same program
    .known-programs = give what `iperf3 --json`, `fio --output-format=json` or `hyperfine --export-json` wrote in a run that ended well, or the text of CrystalDiskMark, ATTO, DiskSpd or robocopy
    .point-of-thousands = beside the other numbers its point may stand between thousands: write these without a separator, as `1234`, or decimals with more or fewer than three digits, as `1.2340`
    .too-large-number = it is too large to calculate with: write it in a larger or smaller unit
    .decimal-point = write decimals with a point and thousands without a separator, as `1234.5`
    .number-alone = write the number alone; a unit belongs into the name of the column, as `read_mb_s`
    .no-number = leave the cell empty where nothing was measured; a column of words is a factor

## Experiments

error-experiment =
    .plan = this plan cannot be run: { $reason }
    .start = cannot read the settings at the start: { $reason }
    .record = cannot go on without the run file; everything was put back
    .not-restored = what was changed could not be put back: { $reason }
    .no-reason = no reason was given
    .confidence = a confidence of { $confidence } is none; 0.95 is usual
    .band = a band of { $band } is none; 0.02 is usual
    .blocks = { $blocks } blocks were asked for; { $confidence } confidence needs { $least }, and { $most } is the limit
    .responses = each response must be named once, and one at least
    .nothing-to-try = there is nothing to try
    .name-taken = the name `{ $name }` is taken
    .sets-nothing = `{ $name }` sets nothing
    .sets-again = `{ $name }` sets something twice
    .candidates = { $most } candidates are the limit
    .few-trials = { $trials } trials are too few; { $least } are needed to find and to prove anything
    .nothing-varied = nothing is varied
    .one-level = `{ $factor }` has one level only
    .arms = { $count } arms; { $most } is the limit
    .full-factorial = a full factorial has more than { $most } arms; ask for a fraction
    .fraction-levels = a fraction needs two levels of each factor; `{ $factor }` has { $levels }
    .fraction-factors = a fraction is known for { $least } to 8 factors and not for { $factors }
    .no-arm = there is no arm { $arm }
    .not-set = `{ $level }` is not set
    .other-value = { $place } reads `{ $found }` and should be `{ $wanted }`
    .not-read = { $place } was not read back
    .other-number = { $found } settings were read back instead of { $wanted }
    .knob = `{ $knob }` of `{ $target }` on `{ $host }`
    .workload-field = `{ $field }` of the workload
    .did-not-last = what was measured did not stay set to the end
    .did-nothing = it did nothing
    .other-settings-read = what was read is not what was asked for

## What a sandbox lacks

sandbox =
    .unknown = this system has no sandbox that linerate knows
    .keeps-root = it keeps root's rights
    .files-open = the kernel does not confine the files that it can open (landlock)
    .files-partly-open = the kernel confines the files that it can open only in part (landlock)
    .calls-unfiltered = the system calls that it can make are not filtered (seccomp)
