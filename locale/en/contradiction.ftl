# Where the two ends of a path do not agree, and what to do about it.

contradiction =
    .end = `{ $nic }` of { $host }
    .subnet = { $near } and { $far } have no subnet in common
    .down = { $end } has no carrier
    .mtu = the MTU differs: { $one } at { $near }, { $two } at { $far }
    .speed = the speed differs: { $one } at { $near }, { $two } at { $far }
    .queues = only one end has several receive queues: { $one } at { $near }, { $two } at { $far }
    .unused = `{ $fast }` of { $host } runs at { $fast_rate } and does not reach { $other }; `{ $slow }` does, at { $slow_rate }
    .route = what { $host } sends to { $other } leaves by `{ $slow }` at { $slow_rate }, and `{ $fast }` of the same subnet runs at { $fast_rate }
    .flow-control = flow control is asymmetric: `{ $one }` at { $near }, `{ $two }` at { $far }
    .tso = segmentation offload is off at { $end } only
    .tx-checksum = checksum offload on sending is off at { $end } only
    .rx-checksum = checksum offload on receiving is off at { $end } only
    .eee = energy-efficient Ethernet is { $one } at { $near }, { $two } at { $far }
    .window-scaling = `tcp.window_scaling` is off at { $host }: no window is larger than 64 KiB, 131 MB/s at a round trip of 0.5 ms
    .window-autotuning = `tcp.window_autotuning` is off at { $host }: the window does not grow with the connection
    .sack = `tcp.sack` is off at { $host }: after a loss more is sent again than was lost
    .timestamps = `tcp.timestamps` is off at { $host }: old segments are taken for new ones when sequence numbers wrap, every 3.4 s at 10 Gbit/s
    .multichannel = multichannel from { $client } to { $server } is off at { $host } only: a session has one connection
    .signing = { $who } demands signing and { $other } does not: all that { $client } asks of { $server } is signed

hint-contradiction =
    .subnet = between them is a router, which limits what they can do; or an address or prefix is wrong
    .down = plug in the cable, or look at the port at the other end
    .mtu = set the same at both ends and at every switch between them: large frames vanish without a word
    .speed = the slower one decides; look at its cable, its port, and what it has agreed on
    .queues = SMB multichannel over one NIC wants them at both ends; see `nic.channels`
    .unused = give both ends of the faster link addresses of one subnet of its own, and use that address
    .route = give each link a subnet of its own, or the route of the faster one the lower metric: see `route.interface_metric`
    .flow-control = set `nic.flow_control` alike: one end sends pauses that the other does not obey
    .offload = set `{ $knob }=on` there, unless somebody turned it off for a reason
    .eee = turn it off at both ends where latency counts
    .set = `linerate set { $host } { $knob }={ $value }`
    .signing = it is a protection: keep it, and have both ends speak SMB 3.1.1, where it costs least
