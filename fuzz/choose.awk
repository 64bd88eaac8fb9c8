# Chooses inputs that cover the most together, from a control file of libFuzzer's merge: its count of files,
# their names, and for each one `STARTED number bytes` and `FT number feature...`. What the seeds cover is
# covered. The one that adds the most for its bytes is next, until `files` or `bytes` are used up.
NR == 1 { count = $1; next }
NR == 2 { next }
NR <= count + 2 { name[NR - 3] = $0; next }
$1 == "STARTED" { size[$2] = $3 }
$1 == "FT" { features[$2] = $0 }
END {
    folders = split(seeds, folder, " ")
    for (one in name) {
        for (at = 1; at <= folders; at++) {
            if (index(name[one], folder[at]) == 1) {
                cover(one)
                break
            }
        }
    }
    while (files-- > 0) {
        best = -1
        worth = 0
        for (one in features) {
            if (size[one] <= bytes && added(one) / (size[one] + 100) > worth) {
                worth = added(one) / (size[one] + 100)
                best = one
            }
        }
        if (best < 0) {
            break
        }
        print name[best]
        bytes -= size[best]
        cover(best)
    }
}
function cover(one, words, at) {
    for (at = split(features[one], words, " "); at > 2; at--) {
        covered[words[at]] = 1
    }
    delete features[one]
}
function added(one, words, at, sum) {
    sum = 0
    for (at = split(features[one], words, " "); at > 2; at--) {
        sum += !(words[at] in covered)
    }
    return sum
}
