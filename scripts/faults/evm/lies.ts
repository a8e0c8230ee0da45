import type { Habits } from '../../../test/support/faulty-node.ts'

const GWEI = 10n ** 9n
const hex = (value: bigint) => `0x${value.toString(16)}`

export type Lie = NonNullable<Habits['lie']>

/** Answers these methods with what `change` makes of the true result. */
function lieAbout(method: string, change: (result: unknown) => unknown): Lie {
  return (call, reply) => (call.method === method ? { ...reply, result: change(reply.result) } : reply)
}

const fields = (value: unknown) => value as Readonly<Record<string, unknown>>

/** Everything as it was at the first block. */
const standingStill: Lie = (call, reply) => {
  if (call.method === 'eth_blockNumber') return { ...reply, result: '0x0' }
  if (call.method !== 'eth_getBlockByNumber') return reply
  return { ...reply, result: { ...fields(reply.result), number: '0x0', baseFeePerGas: '0x1' } }
}

/** What one endpoint says that lies, with the words for a title. */
export const LIES: readonly (readonly [string, Lie])[] = [
  ['a tip of 5,000 gwei', lieAbout('eth_maxPriorityFeePerGas', () => hex(5_000n * GWEI))],
  [
    'a 99th percentile of 50,000 gwei',
    (call, reply) =>
      call.method === 'eth_maxPriorityFeePerGas'
        ? { ...reply, result: hex(5_000n * GWEI) }
        : lieAbout('eth_feeHistory', (result) => ({
            ...fields(result),
            reward: Array.from({ length: 4 }, () => ['0x1', '0x1', '0x1', hex(50_000n * GWEI)]),
          }))(call, reply),
  ],
  ['a gas price of a million gwei', lieAbout('eth_gasPrice', () => hex(1_000_000n * GWEI))],
  ['a gas price of zero', lieAbout('eth_gasPrice', () => '0x0')],
  [
    'base fees of a million gwei',
    lieAbout('eth_feeHistory', (result) => ({
      ...fields(result),
      baseFeePerGas: Array.from({ length: 5 }, () => hex(1_000_000n * GWEI)),
    })),
  ],
  [
    'a block gas limit of 20,480',
    lieAbout('eth_getBlockByNumber', (result) => ({ ...fields(result), gasLimit: '0x5000' })),
  ],
  ['an estimate of 100 gas', lieAbout('eth_estimateGas', () => '0x64')],
  ['an estimate of a billion gas', lieAbout('eth_estimateGas', () => '0x3b9aca00')],
  [
    'a revert',
    (call, reply) =>
      call.method === 'eth_estimateGas'
        ? ({ id: reply.id, error: { code: 3, message: 'execution reverted: no' } } as typeof reply)
        : reply,
  ],
  ['no money', lieAbout('eth_getBalance', () => '0x0')],
  ['a nonce of a million', lieAbout('eth_getTransactionCount', () => '0xf4240')],
  ['code of a delegation', lieAbout('eth_getCode', () => `0xef0100${'11'.repeat(20)}`)],
  [
    'a block of the far future',
    (call, reply) =>
      call.method === 'eth_blockNumber'
        ? { ...reply, result: '0xe8d4a51000' }
        : lieAbout('eth_getBlockByNumber', (result) => ({ ...fields(result), number: '0xe8d4a51000' }))(
            call,
            reply,
          ),
  ],
  ['that nothing has happened since the first block', standingStill],
]
