import { randomBytes } from 'node:crypto'
import { bytesToHex, numberToHex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEvmChain } from '../../../../src/chains/evm/evm-chain.ts'
import type { EvmAttempt } from '../../../../src/chains/evm/types.ts'
import { createLogger } from '../../../../src/log.ts'
import { createSecp256k1Signer } from '../../../../src/signers/secp256k1.ts'
import { type Anvil, startAnvil } from '../../../support/anvil.ts'
import { createHurriedClock } from '../../../support/clock.ts'
import { type FaultyNode, startFaultyNode } from '../../../support/faulty-node.ts'
import type { Pruning } from '../../../support/forked.ts'
import { SILENT_NETWORK } from '../../../transactions/stub-chain.ts'
import { attemptOf, draftOf, eip1559 } from '../build.ts'

const CONFIRMATIONS = 2
const FEES = eip1559(10n ** 11n, 10n ** 9n)

let anvil: Anvil
let nodes: readonly [FaultyNode, FaultyNode]
beforeAll(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] })
  nodes = [await startFaultyNode(anvil.url), await startFaultyNode(anvil.url)]
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
  await anvil.stop()
})

const mine = async (blocks: number) => {
  for (let count = 0; count < blocks; count += 1) await anvil.rpc('evm_mine')
}
const headOf = async () => BigInt(await anvil.rpc<string>('eth_blockNumber'))

/** A chain that asks through these endpoints, each as it is set up; the first is asked first. */
async function setUp(...endpoints: readonly { pruning?: Pruning; rests?: boolean }[]) {
  for (const [index, node] of nodes.entries()) {
    node.fault = endpoints[index]?.rests ? () => ({ kind: 'rest', seconds: 600 }) : () => 'pass'
    node.pruning = endpoints[index]?.pruning
  }
  const rpcUrls = endpoints.map((_, index) => ({ url: nodes[index]?.url ?? '', weight: 100 }))
  const chain = createEvmChain({
    network: { ...SILENT_NETWORK, requiredConfirmations: CONFIRMATIONS, rpcUrls },
    rpcTimeoutMs: 5_000,
    clock: createHurriedClock(Date.now()),
    log: createLogger({ level: 'silent' }),
  })
  const key = randomBytes(32)
  const account = { address: privateKeyToAddress(bytesToHex(key)), signer: createSecp256k1Signer('key', key) }
  await anvil.rpc('anvil_setBalance', [account.address, numberToHex(10n ** 20n)])
  const attempt = async (value: bigint, nonce = 0n): Promise<EvmAttempt> => {
    const draft = draftOf(FEES, { value })
    const signed = await chain.sign(draft, { sourceAccount: account, nonce, account })
    return attemptOf(FEES, { sourceAccount: account.address, nonce, draft, signed, signedAt: new Date() })
  }
  const submit = ({ signed }: EvmAttempt) => anvil.rpc('eth_sendRawTransaction', [bytesToHex(signed.raw)])
  return { chain, attempt, submit }
}

type SetUp = Awaited<ReturnType<typeof setUp>>

/** One transaction of someone's, so that the time before ours is not empty. */
async function busyBlock({ attempt, submit }: SetUp, value: bigint): Promise<bigint> {
  await submit(await attempt(value, 0n))
  await mine(1)
  return headOf()
}

/** Seconds. A clock that is a day ahead, and a time that is far more than that. */
const DAY_S = 86_400
const TWO_DAYS_S = 2 * DAY_S

/** The time of the newest block. */
async function timeOf(): Promise<Date> {
  const { timestamp } = await anvil.rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false])
  return new Date(Number(timestamp) * 1_000)
}

/**
 * Our transaction is signed for nonce 1, two days after the block before it; `used` names the transaction with this nonce that the chain
 * includes.
 */
async function history(made: SetUp, used: 'ours' | 'another') {
  const before = await busyBlock(made, 1n)
  await anvil.rpc('evm_increaseTime', [TWO_DAYS_S])
  await mine(1)
  const ours = { ...(await made.attempt(2n, 1n)), signedAt: await timeOf() }
  const another = await made.attempt(3n, 1n)
  await made.submit(used === 'ours' ? ours : another)
  await mine(1)
  const height = await headOf()
  await mine(40)
  return { before, ours, height, asOf: await headOf() }
}

/** Pruning that begins this many blocks after the one with the nonce. */
const above = (height: bigint) => Number(height) + 10

describe('the nonce was used by one of ours, and receipts are pruned', () => {
  test.each([
    { name: 'the transaction is known (Reth)', of: 'receiptsBelow' },
    { name: 'nothing of it is known (geth), and the state is there', of: 'transactionsBelow' },
  ] as const)('$name: not absent, and no one but a person can decide', async ({ of }) => {
    const made = await setUp({})
    const { ours, height, asOf } = await history(made, 'ours')
    nodes[0].pruning = { [of]: above(height) }
    const proof = await made.chain.proveInclusion([ours], { asOf, since: ours.signedAt })
    expect(proof).toMatchObject({ kind: 'unknown', unprovable: true })
    expect(proof.kind === 'unknown' && proof.detail).toContain(`Block ${height} includes attempt 1`)
  })

  test('a node had refused it, and another transaction used the nonce of a later version: not absent', async () => {
    const made = await setUp({})
    const { ours, height } = await history(made, 'ours')
    const refused = { ...ours, outcome: 'refused' } as const
    const later = { ...(await made.attempt(4n, 2n)), number: 2 }
    await made.submit(await made.attempt(5n, 2n))
    await mine(1 + CONFIRMATIONS)
    nodes[0].pruning = { transactionsBelow: above(height) }
    const freshness = { asOf: await headOf(), since: ours.signedAt }
    const proof = await made.chain.proveInclusion([refused, later], freshness)
    expect(proof).toMatchObject({ kind: 'unknown', unprovable: true })
    expect((await made.chain.proveInclusion([later], freshness)).kind).toBe('absent')
  })

  test('another endpoint keeps receipts: included', async () => {
    const made = await setUp({}, {})
    const { ours, height, asOf } = await history(made, 'ours')
    nodes[0].pruning = { transactionsBelow: above(height), stateBelow: above(height) }
    const proof = await made.chain.proveInclusion([ours], { asOf, since: ours.signedAt })
    expect(proof).toMatchObject({
      kind: 'included',
      number: 1,
      receipt: { blockNumber: height, success: true },
    })
  })

  test('another endpoint knows the transaction, and no receipt: not absent', async () => {
    const made = await setUp({}, {})
    const { ours, height, asOf } = await history(made, 'ours')
    nodes[0].pruning = { transactionsBelow: above(height), stateBelow: above(height) }
    nodes[1].pruning = { receiptsBelow: above(height), stateBelow: above(height) }
    const proof = await made.chain.proveInclusion([ours], { asOf, since: ours.signedAt })
    expect(proof).toMatchObject({ kind: 'unknown', unprovable: true })
  })

  test('one endpoint remembers that time and has lost the block, another knows the transaction: not absent', async () => {
    const made = await setUp({}, {})
    await busyBlock(made, 1n)
    const ours = { ...(await made.attempt(2n, 1n)), signedAt: await timeOf() }
    await anvil.rpc('evm_increaseTime', [TWO_DAYS_S])
    await mine(80)
    await made.submit(ours)
    await mine(1)
    const height = await headOf()
    await mine(80)
    nodes[0].pruning = { stateBelow: above(height), hole: Number(height) }
    nodes[1].pruning = { stateBelow: above(height), receiptsBelow: above(height) }
    const freshness = { asOf: await headOf(), since: ours.signedAt }
    expect(await made.chain.proveInclusion([ours], freshness)).toMatchObject({ kind: 'unknown' })
  })

  test('everything is pruned: a block of its time names it, so it is not absent', async () => {
    const made = await setUp({})
    const { ours, height, asOf } = await history(made, 'ours')
    nodes[0].pruning = { transactionsBelow: above(height), stateBelow: above(height) }
    const proof = await made.chain.proveInclusion([ours], { asOf, since: ours.signedAt })
    expect(proof).toMatchObject({ kind: 'unknown', unprovable: true })
  })
})

test('our clock is a day ahead: a memory that only reaches back to the time of the signature proves nothing', async () => {
  const made = await setUp({})
  await busyBlock(made, 1n)
  await anvil.rpc('evm_increaseTime', [TWO_DAYS_S])
  const ours = await made.attempt(2n, 1n)
  await made.submit(ours)
  await mine(40)
  await anvil.rpc('evm_increaseTime', [DAY_S])
  const later = await setUp({})
  const landmark = await busyBlock(later, 1n)
  const signedAt = await timeOf()
  await mine(40)
  nodes[0].pruning = { stateBelow: above(landmark), transactionsBelow: Number(landmark) }
  const proof = await made.chain.proveInclusion([ours], { asOf: await headOf(), since: signedAt })
  expect(proof).toMatchObject({ kind: 'unknown', unprovable: true })
})

describe('the nonce was used by another transaction of the account', () => {
  test('the block that holds it proves it, whatever became of receipts', async () => {
    const made = await setUp({})
    const { ours, height, asOf } = await history(made, 'another')
    nodes[0].pruning = { transactionsBelow: above(height) }
    expect(await made.chain.proveInclusion([ours], { asOf, since: ours.signedAt })).toEqual({
      kind: 'absent',
      usedBy: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    })
  })

  test('the block is not deep enough: unknown', async () => {
    const made = await setUp({})
    const { ours, height } = await history(made, 'another')
    for (const [deep, kind] of [
      [CONFIRMATIONS - 1, 'unknown'],
      [CONFIRMATIONS, 'absent'],
    ] as const) {
      const asOf = height + BigInt(deep)
      expect((await made.chain.proveInclusion([ours], { asOf, since: ours.signedAt })).kind).toBe(kind)
    }
  })

  test('the state is pruned: a memory that reaches back beyond the signature proves it', async () => {
    const made = await setUp({})
    const { before, ours, height, asOf } = await history(made, 'another')
    nodes[0].pruning = { stateBelow: above(height), receiptsBelow: Number(before) }
    expect(await made.chain.proveInclusion([ours], { asOf, since: ours.signedAt })).toEqual({
      kind: 'absent',
    })
  })

  test.each([
    { name: 'receipts', of: 'receiptsBelow' },
    { name: 'transactions', of: 'transactionsBelow' },
  ] as const)('state and $name are pruned: only a person can decide', async ({ of }) => {
    const made = await setUp({})
    const { ours, height, asOf } = await history(made, 'another')
    nodes[0].pruning = { stateBelow: above(height), [of]: above(height) }
    const proof = await made.chain.proveInclusion([ours], { asOf, since: ours.signedAt })
    expect(proof).toMatchObject({ kind: 'unknown', unprovable: true })
    expect(proof.kind === 'unknown' && proof.detail).toContain('Attach an archive endpoint')
  })

  test('the state is pruned and the index is being built: unknown, and it may become known', async () => {
    const made = await setUp({})
    const { ours, height, asOf } = await history(made, 'another')
    nodes[0].pruning = { stateBelow: above(height), indexing: true }
    expect(await made.chain.proveInclusion([ours], { asOf, since: ours.signedAt })).toEqual({
      kind: 'unknown',
      detail: expect.stringContaining('is paused or does not answer'),
    })
  })

  test('the state is pruned and an endpoint is paused after a 429: unknown, because it may know one of ours', async () => {
    const made = await setUp({}, { rests: true })
    const { ours, height, asOf } = await history(made, 'another')
    nodes[0].pruning = { stateBelow: above(height) }
    for (const look of [1, 2]) {
      const proof = await made.chain.proveInclusion([ours], { asOf, since: ours.signedAt })
      expect({ look, proof }).toEqual({ look, proof: { kind: 'unknown', detail: expect.any(String) } })
    }
    nodes[1].fault = () => 'pass'
    const again = await setUp({ pruning: { stateBelow: above(height) } }, {})
    expect(await again.chain.proveInclusion([ours], { asOf, since: ours.signedAt })).toMatchObject({
      kind: 'absent',
    })
  })
})

describe('the nonce was not used', () => {
  test('nothing is proved, because one of ours can still be included', async () => {
    const made = await setUp({})
    await busyBlock(made, 1n)
    const ours = await made.attempt(2n, 1n)
    await mine(40)
    const freshness = { asOf: await headOf(), since: ours.signedAt }
    expect(await made.chain.proveInclusion([ours], freshness)).toMatchObject({ kind: 'unknown' })
    await made.submit(ours)
    expect(await made.chain.proveInclusion([ours], freshness)).toMatchObject({ kind: 'unknown' })
    await anvil.rpc('anvil_dropAllTransactions')
  })
})

test('two nonces of one transaction each need a user of their own', async () => {
  const made = await setUp({})
  const { ours, asOf } = await history(made, 'another')
  const next = { ...(await made.attempt(5n, 2n)), number: 2 }
  expect(await made.chain.proveInclusion([ours, next], { asOf, since: ours.signedAt })).toMatchObject({
    kind: 'unknown',
  })
  const closed = { ...next, outcome: 'superseded' } as const
  expect(await made.chain.proveInclusion([ours, closed], { asOf, since: ours.signedAt })).toMatchObject({
    kind: 'absent',
  })
})
