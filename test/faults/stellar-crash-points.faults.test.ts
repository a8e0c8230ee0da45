import { openChannels } from '../../scripts/faults/stellar/channels.ts'
import { CHANNELED, type Environment } from '../../scripts/faults/stellar/environment.ts'
import { startStellarTestChain } from '../../scripts/faults/stellar/test-chain.ts'
import { type CrashPoint, sendOne } from './crash.ts'
import { crashSuite } from './crash-suite.ts'

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
    startTestChain: (now) => startStellarTestChain({ endpoints: 1, now }),
    points: {
      send: SEND_POINTS,
      replace: [{ at: 'before', method: SEND }, { at: 'after', method: SEND }, { at: 'answer' }],
      cancel: [{ at: 'after', method: SEND }],
    },
  },
)

crashSuite('Stellar: killed while a signed replacement waits until the earlier version has expired', {
  startTestChain: (now) => startStellarTestChain({ endpoints: 1, crashSigned: true, now }),
  points: {
    send: [],
    replace: [
      // While the replacement is checked.
      { at: 'before', method: 'getLedgerEntries' },
      { at: 'after', method: 'getLedgerEntries' },
      { at: 'answer' },
      // While the chain is asked for the proof.
      { at: 'before', method: 'getTransaction', blocks: true },
      { at: 'after', method: 'getTransaction', blocks: true },
      // While the replacement goes out.
      { at: 'before', method: SEND, blocks: true },
      { at: 'after', method: SEND, blocks: true },
    ],
    cancel: [],
  },
})

let environment: Environment

crashSuite('Stellar: killed with the sequence number of a channel account', {
  startTestChain: async (now) => {
    const testChain = await startStellarTestChain({ endpoints: 1, channels: 1, crashAccount: CHANNELED, now })
    environment = testChain.environment
    return testChain
  },
  prepare: async (testBed) => {
    const problems = await openChannels(environment, testBed)
    if (problems.length > 0) throw new Error(problems.join())
  },
  // Takes the sequence number of the relayer itself, so that what follows gets the channel's.
  before: async (run) => {
    await sendOne(run)
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
