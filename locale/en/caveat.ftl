# What a reader must know of the numbers.
# An argument that may be missing is "absent" then.

## Samples

few-trials =
    .for-any = too few trials for any interval: { $n } of the { $least } that are needed
    .at-most = { $n } trials reach { $reached } confidence at most; { $asked } needs { $least }
few-blocks =
    .for-any = too few blocks for any interval: { $n } of the { $least } that are needed
    .at-most = { $n } blocks reach { $reached } confidence at most; { $asked } needs { $least }
outlier =
    .trials = { $count ->
            [one] trial { $which } stands apart and is kept
           *[other] trials { $which } stand apart and are kept
        }
    .blocks = { $count ->
            [one] block { $which } stands apart and is kept
           *[other] blocks { $which } stand apart and are kept
        }
outlier-more = { $count } more
many-blocks = with { $n } blocks the median of the ratios stands for the Hodges-Lehmann estimate
drift =
    .values-rise = the values rise from trial to trial, by { $share } in all
    .values-fall = the values fall from trial to trial, by { $share } in all
    .ratio-rises = the ratio rises from block to block, by { $share } in all; it may depend on time
    .ratio-falls = the ratio falls from block to block, by { $share } in all; it may depend on time
several-modes = the blocks fall into groups far apart: the noise has more than one mode, and the interval is wide enough for each

## Experiments

incomplete-blocks = { $phase }, { $direction }: { $complete } of { $planned } blocks are complete
misplaced-trials = { $phase }: { $count } trials are not where the schedule has them and do not count
missing-channels = { $phase }: { $short } of { $all } trials ran with fewer than the { $channels } channels that were to be tried: { $why }
senseless =
    .band = the band { $value } makes no sense; { $default } is used
    .confidence = the confidence { $value } makes no sense; { $default } is used
baseline-differs = the baseline differs from itself by { $share }; effects as small as that mean nothing
    .alarm = the baseline differed from itself, so no difference here can be believed
below-noise = it is smaller than what the noise lets so many blocks find reliably ({ $floor })

## The ladder

ceiling-because =
    .line = { $pair }: a line of { $rate } at MTU { $mtu } carries { $payload } bytes of payload in { $whole }
    .shaper = { $pair }: a shaper of { $rate } at MTU { $mtu } carries { $payload } bytes of payload in { $whole }
    .both = { $first }; { $second }
ceiling-caveat =
    .only-advertised = nothing but what the server advertises tells the rate, and that may be invented
    .advertised = the rate is what the server advertises, which may be invented
    .far-mtu = the far end's NIC is not known; its MTU is taken to be ours
    .no-line = one end is on Wi-Fi or in a tunnel, which carries less than the line of the other end
    .other-direction = the rate is known for the other direction and taken for both
gain-caveat =
    .at-most = at most, and only if nothing else limits then
    .stopped-time = at most: that is the time that it would have had besides
    .in-direction = ({ $direction })
    .equal-links = the links' rates are not known and taken to be equal
    .alike-links = the number of links, if they are alike
    .switches = every switch on the way must take frames of that size
    .slow-share = the share does not fill the link today, so it may gain less
    .cable = the line rate of the cable against what was moved over Wi-Fi
    .without-others = at most, while nothing else uses the link
fewer-channels = { $count } more had fewer channels, or lost one, and do not count
unused-pair =
    .dialect = multichannel needs SMB 3, and the server speaks { $dialect }
    .guest = a session of a guest has one channel
    .multichannel-off = multichannel is off at the server
    .our-rss = our end is not capable of RSS, and another pair is
    .server-rss = the server's end is not capable of RSS, and another pair is
    .slower = it runs at { $rate }, and another pair at { $best }
    .limit = { $most } channels are the limit
    .taken = each of its two NICs is in another pair
    .loopback = it is the server's own loopback
    .link-local = it is link-local
    .no-subnet = none of our NICs is in its subnet
    .any-other = any other
linux-options = with `multichannel,max_channels={ $channels }`; without these options it opens one
