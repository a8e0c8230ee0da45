import fc from 'fast-check'
import { afterAll, beforeAll, expect } from 'vitest'
import type { Answer } from '../../../src/chains/answer.ts'
import { createEvmChain } from '../../../src/chains/evm/evm-chain.ts'
import { ceilingOf, tipOf } from '../../../src/chains/evm/prepare/fees.ts'
import type { EvmChain, EvmPrepared } from '../../../src/chains/evm/types.ts'
import { createLogger } from '../../../src/log.ts'
import type { EvmNetwork } from '../../../src/networks/network.ts'
import { createAdjustableClock } from '../../support/clock.ts'
import { type RpcServer, startRpcServer, type WireAnswer, type WireCall } from '../../support/rpc-server.ts'
import { SILENT_NETWORK } from '../../transactions/stub-chain.ts'
import { accountWith, attemptOf, FROM, requestOf } from './build.ts'

const hex = (value: bigint) => `0x${value.toString(16)}`
const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`
const GWEI = 10n ** 9n

/** What a node answers to each call that can cost money, hold up an account or end a request. */
const HONEST: Readonly<Record<string, unknown>> = {
  eth_blockNumber: hex(1_000n),
  eth_getBalance: hex(10n ** 18n),
  eth_getTransactionCount: hex(5n),
  eth_getCode: '0x',
  eth_estimateGas: hex(50_000n),
  eth_gasPrice: hex(22n * GWEI),
  eth_maxPriorityFeePerGas: hex(2n * GWEI),
  eth_feeHistory: {
    oldestBlock: hex(997n),
    baseFeePerGas: Array.from({ length: 5 }, () => hex(20n * GWEI)),
    gasUsedRatio: [0.5, 0.5, 0.5, 0.5],
    reward: Array.from({ length: 4 }, () => [1n, 2n, 3n, 4n].map((tip) => hex(tip * GWEI))),
  },
  eth_getBlockByNumber: {
    number: hex(1_000n),
    hash: `0x${'ab'.repeat(32)}`,
    parentHash: `0x${'aa'.repeat(32)}`,
    timestamp: hex(1_700_000_000n),
    gasLimit: hex(30_000_000n),
    gasUsed: hex(15_000_000n),
    baseFeePerGas: hex(20n * GWEI),
  },
  'eth_call 0x49948e0e': word(40_000n * GWEI), // getL1Fee
  'eth_call 0xd1a3ad57': word(1_000n * GWEI), // getOperatorFee
  linea_estimateGas: {
    baseFeePerGas: hex(20n * GWEI),
    gasLimit: hex(50_000n),
    priorityFeePerGas: hex(5n * GWEI),
  },
}

/** The name of a call in `HONEST`: calls of contracts are told apart by their function. */
function nameOf({ method, params }: WireCall): string {
  if (method !== 'eth_call') return method
  return `${method} ${(params as [{ data: string }])[0].data.slice(0, 10)}`
}

/** The code of an account that runs another contract (EIP-7702). */
const DELEGATION = `0xef0100${'11'.repeat(20)}`

type Path = readonly (string | number)[]

/** The paths to every value within an answer, the answer itself first. */
function pathsWithin(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, inner]) => pathsWithin(inner, [...path, key]))]
}

/** Values of an answer that one endpoint lies about together. */
export interface Field {
  readonly method: string
  readonly paths: readonly Path[]
}

/** Every value that one endpoint can lie about, by call, and each column of the history as a whole. */
export const FIELDS: ReadonlyMap<string, readonly Field[]> = new Map(
  Object.entries(HONEST).map(([method, answer]): [string, Field[]] => [
    method,
    [
      ...pathsWithin(answer).map((path) => ({ method, paths: [path] })),
      ...(method === 'eth_feeHistory' ? [0, 1, 2, 3] : []).map((column) => ({
        method,
        paths: [0, 1, 2, 3].map((block): Path => ['reward', block, column]),
      })),
    ],
  ]),
)

/** Each call as often as the others, however much it answers. */
const field: fc.Arbitrary<Field> = fc
  .constantFrom(...FIELDS.values())
  .chain((fields) => fc.constantFrom(...fields))

/** Changes a value of a node's answer; `undefined` leaves it out. */
export type Lie = (value: unknown) => unknown

export const scale =
  (exponent: number): Lie =>
  (value) => {
    if (typeof value === 'number') return value * 10 ** exponent
    if (typeof value !== 'string' || !value.startsWith('0x') || value === '0x') return value
    const factor = 10n ** BigInt(Math.abs(exponent))
    const scaled = exponent < 0 ? BigInt(value) / factor : BigInt(value) * factor
    return value.length === 66 ? word(scaled % 2n ** 256n) : hex(scaled)
  }

const lie: fc.Arbitrary<{ readonly name: string; readonly lie: Lie }> = fc.oneof(
  fc
    .integer({ min: -20, max: 20 })
    .filter((exponent) => exponent !== 0)
    .map((exponent) => ({ name: `times 10^${exponent}`, lie: scale(exponent) })),
  fc.constantFrom<{ name: string; lie: Lie }>(
    { name: 'zero', lie: () => '0x0' },
    { name: 'null', lie: () => null },
    { name: 'absent', lie: () => undefined },
    { name: 'a list', lie: () => [] },
    { name: 'text', lie: () => 'x' },
    { name: 'the code of a delegation', lie: () => DELEGATION },
  ),
)

function changedAt(value: unknown, path: Path, change: Lie): unknown {
  const [key, ...rest] = path
  if (key === undefined) return change(value)
  if (typeof value !== 'object' || value === null) return value
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string | number, unknown>
  copy[key] = changedAt(copy[key], rest, change)
  return copy
}

/** How an endpoint behaves as a whole. */
export type Behaviour = (
  call: WireCall,
  honest: unknown,
) => { readonly result?: unknown; readonly error?: object }

const honestly: Behaviour = (_call, honest) => ({ result: honest })

export const lying =
  (method: string, paths: readonly Path[], change: Lie): Behaviour =>
  (call, honest) => ({
    result:
      nameOf(call) === method
        ? paths.reduce((answer, path) => changedAt(answer, path, change), honest)
        : honest,
  })

/** An endpoint that stopped at an old block, when prices were others. */
const standingStill =
  (exponent: number): Behaviour =>
  (call, honest) => {
    const name = nameOf(call)
    if (name === 'eth_blockNumber') return { result: hex(7n) }
    const priced = pathsWithin(honest).reduce<unknown>(
      (answer, path) => changedAt(answer, path, scale(exponent)),
      honest,
    )
    return { result: name === 'eth_getBlockByNumber' ? { ...(priced as object), number: hex(7n) } : priced }
  }

const failing =
  (message: string): Behaviour =>
  () => ({ error: { code: -32000, message } })

const REFUSALS = [
  'execution reverted',
  'insufficient funds for transfer',
  'gas required exceeds allowance (0)',
  'out of stars',
  'method not found',
  'header not found',
]

export const behaviour: fc.Arbitrary<{ readonly name: string; readonly as: Behaviour }> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.tuple(field, lie).map(([{ method, paths }, told]) => ({
      name: `${told.name} in ${method} ${JSON.stringify(paths)}`,
      as: lying(method, paths, told.lie),
    })),
  },
  {
    weight: 1,
    arbitrary: fc
      .integer({ min: -4, max: 4 })
      .map((exponent) => ({ name: `standing still, times 10^${exponent}`, as: standingStill(exponent) })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...REFUSALS).map((message) => ({ name: message, as: failing(message) })),
  },
)

export const NETWORKS: readonly Partial<EvmNetwork>[] = [
  { features: ['eip1559'] },
  { features: [] },
  { features: ['eip1559'], opStack: true, mempool: false },
  { features: ['eip1559'], chainId: 59_144 },
]

const servers: RpcServer[] = []
/** The nodes that answer nothing. */
const silent = new Set<number>()
const behaviours: Behaviour[] = [honestly, honestly, honestly]

/** Starts the nodes of a file of tests. */
export function startNodes(): void {
  beforeAll(async () => {
    for (const index of behaviours.keys()) {
      servers.push(
        await startRpcServer((calls): WireAnswer => {
          if (silent.has(index)) return 'silent'
          const replies = calls.map((call) => {
            const honest = HONEST[nameOf(call)] ?? null
            return { jsonrpc: '2.0', id: call.id, ...(behaviours[index] ?? honestly)(call, honest) }
          })
          return { body: replies.length === 1 ? replies[0] : replies }
        }),
      )
    }
  })
  // Files of one process share this module, so that the next one begins without the nodes of this one.
  afterAll(() => Promise.all(servers.splice(0).map((server) => server.stop())))
}

function chainOf(network: Partial<EvmNetwork>, endpoints: number): EvmChain {
  const rpcUrls = servers.slice(0, endpoints).map(({ url }) => ({ url, weight: 100 }))
  return createEvmChain({
    network: { ...SILENT_NETWORK, averageBlocktimeMs: 2_000, ...network, rpcUrls },
    rpcTimeoutMs: 1_000,
    clock: createAdjustableClock(),
    log: createLogger({ level: 'silent' }),
  })
}

const REQUEST = requestOf({ data: '0xff' })

/** Everything that the service would do next for an account, by what its endpoints say. */
async function doings(chain: EvmChain, speed: 'safeLow' | 'fastest') {
  const account = accountWith()
  const request = { ...REQUEST, speed }
  await chain.head()
  const [first] = await Promise.all([chain.prepare(request, account)])
  const [balance, nonces, limit, head] = await Promise.all([
    chain.balance(FROM),
    chain.sequencing.nonces([FROM]),
    chain.sequencing.inFlightLimit?.(FROM),
    chain.head(),
  ])
  // What the endpoints have agreed on is asked of one of them the next time.
  const [balanceLater, noncesLater] = await Promise.all([
    chain.balance(FROM),
    chain.sequencing.nonces([FROM]),
  ])
  const sent = attemptOf(
    { kind: 'eip1559', maxFeePerGas: 30n * GWEI, maxPriorityFeePerGas: 1n * GWEI },
    {
      draft: {
        type: 'evm',
        to: FROM,
        value: 1n,
        data: '0xff',
        gasLimit: 55_000n,
        fees: { kind: 'eip1559', maxFeePerGas: 30n * GWEI, maxPriorityFeePerGas: 1n * GWEI },
        preparedAtBlock: 990n,
      },
    },
  )
  const [raise, price] = await Promise.all([
    chain.feeBump.speedUp([sent], { level: speed, account }),
    chain.comparePrice(sent.draft, speed, account),
  ])
  return { first, raise, balance, balanceLater, nonces, noncesLater, limit, head, price }
}

type Doings = Awaited<ReturnType<typeof doings>>

/** Answers of honest endpoints may differ by this factor, so a price that an endpoint moves by less is not told from theirs. */
const FACTOR = 2n

const isNear = (one: bigint, other: bigint) => one <= other * FACTOR && other <= one * FACTOR

function preparedOf(answer: Answer<EvmPrepared> | { readonly kind: string }): EvmPrepared | string {
  return answer.kind === 'ok' ? (answer as { value: EvmPrepared }).value : JSON.stringify(answer)
}

/** The next draft costs, and risks, what that of honest endpoints does. */
function expectSameDraft(got: Doings['first'], want: Doings['first']): void {
  const [lied, honest] = [preparedOf(got), preparedOf(want)]
  if (typeof lied === 'string' || typeof honest === 'string') {
    expect(lied).toEqual(honest)
    return
  }
  const [a, b] = [lied.draft, honest.draft]
  expect(isNear(ceilingOf(a.fees), ceilingOf(b.fees)), `${ceilingOf(a.fees)} for ${ceilingOf(b.fees)}`).toBe(
    true,
  )
  expect(isNear(tipOf(a.fees), tipOf(b.fees)), `tip ${tipOf(a.fees)} for ${tipOf(b.fees)}`).toBe(true)
  expect(isNear(a.gasLimit, b.gasLimit), `gas ${a.gasLimit} for ${b.gasLimit}`).toBe(true)
  expect(isNear(a.rollupFee ?? 1n, b.rollupFee ?? 1n), `rollup ${a.rollupFee} for ${b.rollupFee}`).toBe(true)
  expect(lied.awaitsPrice).toBe(honest.awaitsPrice)
}

export async function compared(
  endpoints: number,
  network: Partial<EvmNetwork>,
  speed: 'safeLow' | 'fastest',
  liar: number,
  as: Behaviour,
) {
  behaviours.fill(honestly)
  const honest = await doings(chainOf(network, endpoints), speed)
  behaviours[liar] = as
  const lied = await doings(chainOf(network, endpoints), speed)
  behaviours.fill(honestly)
  return { honest, lied }
}

/** The default of `fee_limit_multiplier`. */
const MULTIPLIER = 5n

interface Compared {
  readonly honest: Doings
  readonly lied: Doings
}

/** What the service does while one of the nodes answers nothing, and what it does otherwise. */
export async function comparedWithSilence(endpoints: number, network: Partial<EvmNetwork>, node: number) {
  const honest = await doings(chainOf(network, endpoints), 'fastest')
  silent.add(node)
  try {
    return { honest, lied: await doings(chainOf(network, endpoints), 'fastest') }
  } finally {
    silent.delete(node)
  }
}

/**
 * A balance that is too low holds an account; of one that is too high, the node that gets the transaction
 * knows better.
 */
function expectNotLower(got: Doings['balance'], want: Doings['balance']): void {
  expect(got.kind === 'ok' && want.kind === 'ok' && got.value >= want.value).toBe(true)
}

/** One of three changes nothing of what the other two would do. */
export function expectNothingChanged({ honest, lied }: Compared): void {
  expectSameDraft(lied.first, honest.first)
  expectSameDraft(lied.raise as Doings['first'], honest.raise as Doings['first'])
  expect(lied.balance).toEqual(honest.balance)
  expectNotLower(lied.balanceLater, honest.balance)
  for (const nonces of [lied.nonces, lied.noncesLater]) expect(nonces).toEqual(honest.nonces)
  expect(lied.limit).toEqual(honest.limit)
  expect(lied.head).toMatchObject({ kind: 'ok', value: { number: 1_000n } })
  const newest = lied.price.kind === 'ok' ? lied.price.value.newest : undefined
  // The service asks for the height before the block, which can be the next one.
  expect([1_000n, 1_001n]).toContain(newest?.number)
  expect(newest?.isNew).toBe(true)
}

/** One of two raises no price, refuses nothing, and stops nothing. */
export function expectNoHarm({ honest, lied }: Compared): void {
  const [got, want] = [preparedOf(lied.first), preparedOf(honest.first)]
  if (typeof got === 'string' || typeof want === 'string')
    throw new Error(`it is not prepared: ${JSON.stringify([got, want])}`)
  expect(ceilingOf(got.draft.fees)).toBeLessThanOrEqual(ceilingOf(want.draft.fees) * FACTOR)
  expect(tipOf(got.draft.fees)).toBeLessThanOrEqual(tipOf(want.draft.fees) * FACTOR)
  expect(got.draft.rollupFee ?? 0n).toBeLessThanOrEqual((want.draft.rollupFee ?? 0n) * FACTOR)
  expect(got.draft.gasLimit * FACTOR).toBeGreaterThanOrEqual(want.draft.gasLimit)
  expect(got.draft.gasLimit).toBeLessThanOrEqual(30_000_000n)
  expect(got.awaitsPrice).toBeUndefined()
  if (lied.raise?.kind === 'ok')
    expect(ceilingOf(lied.raise.value.draft.fees)).toBeLessThanOrEqual(
      MULTIPLIER * ceilingOf(want.draft.fees),
    )
  for (const balance of [lied.balance, lied.balanceLater]) expectNotLower(balance, honest.balance)
  for (const [nonce] of [lied.nonces, lied.noncesLater])
    expect(nonce?.kind === 'ok' && nonce.value <= 5n).toBe(true)
  expect(lied.limit).toBeUndefined()
}

/** The only endpoint of a network makes nothing dearer than the cap of a fee. */
export function expectWithinCap({ lied }: Compared): void {
  for (const answer of [lied.first, lied.raise]) {
    const prepared = answer === undefined ? '' : preparedOf(answer)
    if (typeof prepared === 'string') continue
    const { gasLimit, fees } = prepared.draft
    expect(gasLimit * ceilingOf(fees)).toBeLessThanOrEqual(SILENT_NETWORK.txFeeCap)
  }
}
