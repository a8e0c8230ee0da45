import { startSolanaTestChain } from '../../scripts/faults/solana/test-chain.ts'
import type { CrashPoint } from './crash.ts'
import { crashSuite } from './crash-suite.ts'

const SEND = 'sendTransaction'
const STATUSES = 'getSignatureStatuses'

/** While blocks are made until the earlier version has lapsed. */
const SUCCESSION: readonly CrashPoint[] = [
  // The first tried whether it could be executed, the second is for what is signed.
  { at: 'before', method: 'simulateTransaction', nth: 2, blocks: true },
  { at: 'before', method: SEND, blocks: true },
  { at: 'after', method: SEND, blocks: true },
]

crashSuite('Solana: killed between two steps, nothing is lost and nothing is doubled', {
  startTestChain: (now) => startSolanaTestChain({ endpoints: 1, now }),
  points: {
    // Where a call only reads, dying before and after it leaves the same behind as the point before it.
    send: [
      { at: 'answer' },
      { at: 'before', method: SEND },
      { at: 'after', method: SEND },
      { at: 'status', status: 'submitted' },
      { at: 'status', status: 'mined' },
    ],
    replace: [{ at: 'answer' }, ...SUCCESSION],
    // It sends nothing, and nothing of it is simulated.
    cancel: [{ at: 'after', method: STATUSES }],
  },
})
