import { keccak256, numberToHex, parseTransaction, type TransactionSerializable } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { findNonceUser } from '../../../../src/chains/evm/inclusion/nonce-user.ts'
import type { PooledClient, RpcCall, RpcReply } from '../../../../src/chains/rpc/rpc.ts'
import { FROM, TO } from '../build.ts'

/** A node whose chain used nonce 5 of the account in this block. */
interface Node {
  readonly usedIn: bigint
  readonly behind?: true
  /** Heights below it have no state. */
  readonly stateFrom?: bigint
  readonly silent?: true
  /** The hash of the block of the question. */
  readonly hash?: string
  /** The content of the block. Default: the transaction of the account. */
  readonly entries?: readonly object[]
}

const ASKED = { address: FROM, nonce: 5n, asOf: 1_000n, confirmations: 2n }
/** The first and the second key of the well-known test mnemonic: that of the account, and that of a third party. */
const OWNER = privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
const OTHER = privateKeyToAccount('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d')

const CONTENT = { chainId: 1, nonce: 5, to: TO, value: 1n, gas: 21_000n, data: '0x' } as const
const DYNAMIC = { ...CONTENT, type: 'eip1559', maxFeePerGas: 9n, maxPriorityFeePerGas: 1n } as const

/** A signed transaction as a node returns it in a block: of `from`, regardless of who signed it. */
async function wireOf(transaction: TransactionSerializable, { signer = OWNER, from = FROM } = {}) {
  const raw = await signer.signTransaction(transaction)
  const { type, data = '0x', ...fields } = parseTransaction(raw)
  const { v, yParity } = fields
  const authorizationList = 'authorizationList' in fields ? fields.authorizationList : undefined
  return {
    ...(quantities({ ...fields, v: type === 'legacy' ? v : yParity }) as object),
    ...(authorizationList && { authorizationList: authorizationList.map(quantities) }),
    type: TYPES[type ?? ''],
    input: data,
    hash: keccak256(raw),
    from: from.toLowerCase(),
  }
}

/** Numbers as JSON-RPC has them; `r` and `s` without leading zeros. */
function quantities(fields: object): unknown {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (typeof value === 'bigint' || typeof value === 'number') return [name, numberToHex(value)]
      return [name, name === 'r' || name === 's' ? numberToHex(BigInt(value)) : value]
    }),
  )
}

const TYPES: Readonly<Record<string, string>> = {
  legacy: '0x0',
  eip2930: '0x1',
  eip1559: '0x2',
  eip7702: '0x4',
}

const USER = await wireOf(DYNAMIC)
const SIGNED_BY_ANOTHER = await wireOf(DYNAMIC, { signer: OTHER })
const ANOTHER_NONCE = await wireOf({ ...DYNAMIC, nonce: 4 })
const AUTHORIZATION = await OWNER.signAuthorization({ contractAddress: TO, chainId: 1, nonce: 6 })

function answer(node: Node, { method, params }: RpcCall): RpcReply {
  if (node.silent) return { kind: 'unknown', detail: 'time-out' }
  const height = BigInt(String((params as unknown[])[method === 'eth_getTransactionCount' ? 1 : 0]))
  if (method === 'eth_getTransactionCount') {
    if (height < (node.stateFrom ?? 0n)) return { kind: 'error', code: -32000, message: 'missing trie node' }
    return { kind: 'result', result: height >= node.usedIn ? '0x6' : '0x5' }
  }
  const result = {
    number: numberToHex(height),
    hash: node.hash ?? '0xb1',
    transactions: node.entries ?? [USER],
  }
  return { kind: 'result', result }
}

function clientOf(nodes: readonly Node[], resting = 0) {
  let asked = 0
  const client: PooledClient = {
    send: async () => [],
    call: async () => ({ kind: 'unknown', detail: 'not asked' }),
    sendAsOf: async () => [],
    sendToEach: () => [],
    sendEverywhere: async (calls) => {
      asked += calls.length
      const rest = { reply: { kind: 'unknown', detail: 'it rests' }, behind: true } as const
      return [
        ...nodes.map((node) =>
          calls.map((call) => ({ reply: answer(node, call), behind: node.behind === true })),
        ),
        ...Array.from({ length: resting }, () => calls.map(() => rest)),
      ]
    },
    broadcast: async () => [],
    forward: async () => [],
    seenHead: () => undefined,
    states: () =>
      Array.from({ length: nodes.length + resting }, (_, index) => ({
        url: `http://${index}`,
        healthy: true,
      })),
  }
  return { client, asked: () => asked }
}

const USED = { kind: 'used', hash: USER.hash }

describe('who used a nonce', () => {
  test.each([
    { name: 'just now, and deep enough', nodes: [{ usedIn: 998n }], want: { ...USED, height: 998n } },
    { name: 'not deep enough', nodes: [{ usedIn: 999n }], want: { kind: 'unknown' } },
    { name: 'long ago', nodes: [{ usedIn: 123n }], want: { ...USED, height: 123n } },
    { name: 'in the first block', nodes: [{ usedIn: 0n }], want: { ...USED, height: 0n } },
    { name: 'nobody', nodes: [{ usedIn: 2_000n }], want: { kind: 'unknown' } },
    {
      name: 'one endpoint has the state',
      nodes: [{ usedIn: 500n, stateFrom: 900n }, { usedIn: 500n }],
      want: { ...USED, height: 500n },
    },
    {
      name: 'no endpoint has the state',
      nodes: [{ usedIn: 500n, stateFrom: 900n }],
      want: { kind: 'pruned' },
    },
    {
      name: 'no endpoint tells the state of the head itself',
      nodes: [{ usedIn: 500n, stateFrom: 1_001n }],
      want: { kind: 'unknown' },
    },
    {
      name: 'below the depth that is demanded, and no state before it',
      nodes: [{ usedIn: 999n, stateFrom: 998n }],
      want: { kind: 'unknown' },
    },
    {
      name: 'no endpoint has the state, and one is silent',
      nodes: [
        { usedIn: 500n, stateFrom: 900n },
        { usedIn: 500n, silent: true },
      ],
      want: { kind: 'unknown' },
    },
    { name: 'all are behind', nodes: [{ usedIn: 500n, behind: true }], want: { kind: 'unknown' } },
    {
      name: 'two chains',
      nodes: [{ usedIn: 500n }, { usedIn: 500n, hash: '0xb2' }],
      want: { kind: 'unknown' },
    },
    {
      name: 'another chain, from behind',
      nodes: [{ usedIn: 500n }, { usedIn: 500n, hash: '0xb2', behind: true }],
      want: { ...USED, height: 500n },
    },
    {
      name: 'one says that no one did',
      nodes: [{ usedIn: 500n }, { usedIn: 2_000n }],
      want: { kind: 'unknown' },
    },
    {
      name: 'a block without such a transaction (EIP-7702)',
      nodes: [
        {
          usedIn: 500n,
          entries: [
            { ...USER, from: TO },
            { ...USER, nonce: '0x4' },
          ],
        },
      ],
      want: { kind: 'unnamed' },
    },
    {
      name: 'a block that cannot be read',
      nodes: [{ usedIn: 500n, entries: [{ hash: '0xaa' }] }],
      want: { kind: 'unknown' },
    },
  ] satisfies { name: string; nodes: Node[]; want: object }[])(
    '$name: $want.kind',
    async ({ nodes, want }) => {
      expect(await findNonceUser(clientOf(nodes).client, ASKED)).toMatchObject(want)
    },
  )

  const KEYS = [{ address: TO, storageKeys: [`0x${'1'.repeat(64)}`] }] as const
  const legacy = { ...CONTENT, gasPrice: 9n, type: 'legacy' } as const
  test.each([
    { name: 'a legacy transaction', transaction: legacy },
    { name: 'one without replay protection', transaction: { ...legacy, chainId: undefined } },
    { name: 'one of a chain whose id needs 53 bits', transaction: { ...legacy, chainId: 2 ** 53 - 1 } },
    { name: 'one with an access list', transaction: { ...legacy, type: 'eip2930', accessList: KEYS } },
    {
      name: 'one with data and much value',
      transaction: { ...DYNAMIC, data: '0xa9059cbb', value: 2n ** 127n },
    },
    { name: 'a creation', transaction: { ...DYNAMIC, to: undefined, data: '0x6001' } },
    {
      name: 'one with authorizations',
      transaction: {
        ...DYNAMIC,
        type: 'eip7702',
        authorizationList: [AUTHORIZATION],
      },
    },
  ])('$name is recognised by its signature', async ({ transaction }) => {
    const entry = await wireOf(transaction as TransactionSerializable)
    const node = { usedIn: 500n, entries: [entry] }
    expect(await findNonceUser(clientOf([node]).client, ASKED)).toEqual({
      kind: 'used',
      hash: entry.hash,
      height: 500n,
    })
  })

  test.each([
    { name: 'a made-up transaction', entry: { hash: '0xaa', from: FROM, nonce: '0x5' } },
    { name: 'one that a third party signed', entry: SIGNED_BY_ANOTHER },
    { name: 'one under another hash', entry: { ...USER, hash: `0x${'ab'.repeat(32)}` } },
    { name: 'one of ours with another nonce', entry: { ...ANOTHER_NONCE, nonce: '0x5' } },
    { name: 'one with another value', entry: { ...USER, value: '0x2' } },
  ])('$name proves nothing, whatever the node says', async ({ entry }) => {
    const node = { usedIn: 500n, entries: [entry] }
    expect(await findNonceUser(clientOf([node]).client, ASKED)).toEqual({
      kind: 'unknown',
      detail: expect.stringContaining('is not signed by the account'),
    })
  })

  test('no endpoint that was asked has the state, and one rests: unknown', async () => {
    const { client } = clientOf([{ usedIn: 500n, stateFrom: 900n }], 1)
    expect(await findNonceUser(client, ASKED)).toMatchObject({ kind: 'unknown' })
  })

  test('costs a few calls for what was lately, and two for each binary digit of the height at most', async () => {
    for (const [usedIn, most] of [
      [99_999_990n, 8 + 3 + 1],
      [12_345_678n, 2 * 27 + 8 + 1],
      [1n, 2 * 27 + 8 + 1],
    ] as const) {
      const { client, asked } = clientOf([{ usedIn }])
      expect(await findNonceUser(client, { ...ASKED, asOf: 100_000_000n })).toMatchObject({ height: usedIn })
      expect(asked()).toBeLessThanOrEqual(most)
    }
  })
})
