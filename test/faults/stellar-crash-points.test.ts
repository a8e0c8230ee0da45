import { type CrashPoint, sendOne } from './crash.ts'
import { crashSuite } from './crash-suite.ts'
import { openChannels } from './stellar/channels.ts'
import { CHANNELED, type Environment } from './stellar/ground.ts'
import { startStellarSite } from './stellar/site.ts'

const SEND = 'sendTransaction'

/** Where a call only reads, dying before and after it leaves the same behind as the point before it. */
const SEND_POINTS: readonly CrashPoint[] = [
  { at: 'answer' },
  { at: 'before', method: SEND },
  { at: 'after', method: SEND },
  { at: 'status', status: 'submitted' },
  { at: 'before', method: 'getTransaction' },
]

crashSuite(
  'Stellar: killed between two steps, nothing is lost, nothing is doubled and no sequence number hangs',
  {
    startSite: (now) => startStellarSite({ endpoints: 1, now }),
    points: {
      send: SEND_POINTS,
      replace: [{ at: 'before', method: SEND }, { at: 'after', method: SEND }, { at: 'answer' }],
      cancel: [{ at: 'after', method: SEND }],
    },
  },
)

let environment: Environment

crashSuite('Stellar: killed with the sequence number of a channel account', {
  startSite: async (now) => {
    const site = await startStellarSite({ endpoints: 1, channels: 1, crashAccount: CHANNELED, now })
    environment = site.environment
    return site
  },
  prepare: async (world) => {
    const problems = await openChannels(environment, world)
    if (problems.length > 0) throw new Error(problems.join())
  },
  // Takes the sequence number of the relayer itself, so that what follows gets the channel's.
  before: async (stage) => {
    await sendOne(stage)
    return 1
  },
  points: {
    send: [
      { at: 'before', method: SEND },
      { at: 'after', method: SEND },
    ],
    replace: [{ at: 'after', method: SEND }],
    cancel: [],
  },
})
