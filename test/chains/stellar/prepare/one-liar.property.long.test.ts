import { nativeToScVal } from '@stellar/stellar-sdk'
import {
  LedgerEntryData,
  LedgerFootprint,
  SorobanAuthorizationEntry,
  SorobanAuthorizedInvocation,
  SorobanResources,
  SorobanTransactionData,
} from '@stellar/stellar-sdk/xdr'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StellarDraft, StellarRequest } from '../../../../src/chains/stellar/content.ts'
import { openEnvelope } from '../../../../src/chains/stellar/model/envelope.ts'
import { STELLAR_AGREEMENT } from '../../../../src/chains/stellar/prepare/agreement.ts'
import { createStellarChain } from '../../../../src/chains/stellar/stellar-chain.ts'
import { createLogger } from '../../../../src/log.ts'
import { createAdjustableClock } from '../../../support/clock.ts'
import { everyLie, type Liar, type NamedLie, startLiar } from '../../one-liar.ts'
import { accountWith, NETWORK, OTHER, paymentOf, requestOf, SELF } from '../build.ts'
import { type Stage, setStage, XLM } from '../stage.ts'

/** What recent ledgers charged for an operation, in stroops. */
const CHARGED = '4000'

/** An endpoint that never answers uses up this time, in ms; two others that answer do not wait for it. */
const TIMEOUT_MS = 4_000
const LONGEST_MS = 3_500

/** The end of a transaction may be this much off, in seconds: a few ledgers. */
const OFF_SECONDS = 60n

let stage: Stage
let contract = ''
const nodes: Liar[] = []

beforeAll(async () => {
  stage = await setStage()
  contract = stage.ledger.contract({ touch: () => nativeToScVal(1) })
  stage.ledger.close(3)
  for (let count = 0; count < 3; count += 1) {
    const node = await startLiar(stage.ledger.url, (method, reply) => {
      if (method !== 'getFeeStats') return reply
      const fees = Object.fromEntries(
        ['p10', 'p50', 'p90', 'p95', 'p99', 'max', 'min', 'mode'].map((name) => [name, CHARGED]),
      )
      return { ...reply, result: { inclusionFee: fees, sorobanInclusionFee: fees, latestLedger: 5 } }
    })
    nodes.push(node)
  }
})
afterAll(async () => {
  for (const node of nodes) await node.stop()
  await stage.ledger.stop()
})

const call = (name: string, to = contract): StellarRequest =>
  requestOf({
    operations: [{ type: 'invoke_contract', contract_address: to, function_name: name, args: [] }],
    maxFee: 10_000_000n,
  })

const transferCall = (): StellarRequest =>
  requestOf({
    operations: [
      {
        type: 'invoke_contract',
        contract_address: stage.ledger.nativeContract,
        function_name: 'transfer',
        args: [{ address: SELF }, { address: OTHER }, { i128: String(5n * XLM) }],
      },
    ],
    maxFee: 10_000_000n,
  })

const REQUESTS: readonly { readonly name: string; readonly of: () => StellarRequest }[] = [
  { name: 'a payment', of: () => requestOf({ operations: [paymentOf(5n, OTHER)] }) },
  { name: 'a call', of: () => call('touch') },
  { name: 'a call with an authorization', of: transferCall },
  { name: 'a call that fails', of: () => call('missing') },
]

function chainOf(urls: readonly string[]) {
  return createStellarChain({
    network: {
      type: 'stellar',
      name: NETWORK.name,
      passphrase: stage.ledger.passphrase,
      isTestnet: true,
      averageBlocktimeMs: 1,
      requiredConfirmations: 0,
      rpcUrls: urls.map((url, index) => ({ url, weight: index === 0 ? 100 : 1e-9 })),
    },
    rpcTimeoutMs: TIMEOUT_MS,
    clock: createAdjustableClock(),
    log: createLogger({ level: 'silent' }),
  })
}

async function decide(urls: readonly string[], request: StellarRequest) {
  const chain = chainOf(urls)
  const startedAt = performance.now()
  const [answer, balance, [nonce]] = await Promise.all([
    chain.prepare(request, accountWith()),
    chain.balance(SELF),
    chain.sequencing.nonces([SELF]),
  ])
  const tookMs = performance.now() - startedAt
  const draft = answer.kind === 'ok' ? answer.value.draft : undefined
  const head = await chain.head()
  const isExpired = draft && head.kind === 'ok' && (await chain.expiry.hasExpired(draft, head.value))
  return { answer, draft, balance, nonce, isExpired, tookMs }
}

type Decision = Awaited<ReturnType<typeof decide>>

/** Returns what differs from what honest endpoints decide; undefined if nothing does that matters. */
function difference(honest: Decision, seen: Decision, endpoints: number): string | undefined {
  // Of two endpoints that contradict each other, none refuses: the call waits, or the one that succeeds outweighs the other.
  if (endpoints === 2 && honest.answer.kind === 'refused' && seen.answer.kind !== 'refused') return undefined
  if (endpoints > 2 && seen.tookMs > LONGEST_MS) return `it took ${seen.tookMs} ms`
  if (seen.answer.kind !== honest.answer.kind)
    return `${honest.answer.kind} became ${JSON.stringify(seen.answer, showBigint)}`
  if (seen.answer.kind === 'refused' && honest.answer.kind === 'refused') {
    const [one, other] = [honest.answer.refusal, seen.answer.refusal]
    // Of two endpoints, the silence of one leaves open what it knows.
    const isOpen = endpoints === 2 && other.unanswered === true
    if (!isOpen && (one.code !== other.code || one.unanswered !== other.unanswered))
      return JSON.stringify(other)
  }
  if (seen.isExpired !== honest.isExpired) return 'it has expired'
  return accountProblem(honest, seen, endpoints) ?? draftProblem(honest.draft, seen.draft, endpoints)
}

function accountProblem(honest: Decision, seen: Decision, endpoints: number): string | undefined {
  if (seen.balance.kind !== 'ok' || honest.balance.kind !== 'ok') return 'no balance'
  const [balance, had] = [seen.balance.value, honest.balance.value]
  if (endpoints > 2 && balance !== had) return `balance ${balance}, not ${had}`
  if (balance * 10n < had * 9n) return `balance ${balance}, not ${had}`
  if (endpoints > 2 && seen.nonce?.kind === 'ok' && honest.nonce?.kind === 'ok')
    return seen.nonce.value === honest.nonce.value ? undefined : `sequence number ${seen.nonce.value}`
  return seen.nonce?.kind === 'ok' ? undefined : 'no sequence number'
}

function draftProblem(
  wanted: StellarDraft | undefined,
  draft: StellarDraft | undefined,
  endpoints: number,
): string | undefined {
  if (draft === undefined || wanted === undefined) return undefined
  if (draft.feePerOperation > wanted.feePerOperation * 2n) return `a bid of ${draft.feePerOperation}`
  if (endpoints > 2 && draft.feePerOperation * 2n < wanted.feePerOperation)
    return `a bid of ${draft.feePerOperation}`
  const [end, real] = [draft.expiresAt ?? 0n, wanted.expiresAt ?? 0n]
  if (end > real + OFF_SECONDS || end + OFF_SECONDS < real) return `it ends at ${end}, not ${real}`
  if (
    endpoints > 2 &&
    (draft.resourceFee > wanted.resourceFee * 2n || draft.resourceFee * 2n < wanted.resourceFee)
  )
    return `a resource fee of ${draft.resourceFee}, not ${wanted.resourceFee}`
  if (draft.resourceFee * 2n < wanted.resourceFee) return `a resource fee of ${draft.resourceFee}`
  if (endpoints > 2 && authorizedBy(draft) !== authorizedBy(wanted)) return 'another authorization'
  return undefined
}

function authorizedBy({ envelope }: StellarDraft): string {
  const body = openEnvelope(envelope).tx.operations[0]?.body
  if (body?.type !== 'invokeHostFunction') return ''
  return body.invokeHostFunctionOp.auth.map((entry) => entry.toXdr('base64')).join()
}

const showBigint = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)

function decoded<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined // Other XDR.
  }
}

/** Wrong values inside of XDR. */
function special(text: string): readonly { readonly name: string; readonly value: unknown }[] {
  const resources = decoded(() => SorobanTransactionData.fromXdr(text, 'base64'))
  if (resources !== undefined) return wrongResources(resources)
  const entry = decoded(() => LedgerEntryData.fromXdr(text, 'base64'))
  if (entry?.type === 'account') {
    const { account } = entry
    const changed = (name: string, change: object) => ({
      name,
      value: LedgerEntryData.account(
        Object.assign(
          Object.create(Object.getPrototypeOf(account) as object),
          account,
          change,
        ) as typeof account,
      ).toXdr('base64'),
    })
    return [
      changed('balance 0', { balance: 0n }),
      changed('balance × 1000', { balance: account.balance * 1_000n }),
      changed('sequence + 1', { seqNum: account.seqNum + 1n }),
      changed('sequence - 1', { seqNum: account.seqNum - 1n }),
      changed('sequence × 1000', { seqNum: account.seqNum * 1_000n }),
      changed('subentries', { numSubEntries: 100 }),
    ]
  }
  const auth = decoded(() => SorobanAuthorizationEntry.fromXdr(text, 'base64'))
  if (auth === undefined) return []
  const { credentials, rootInvocation } = auth
  const wider = new SorobanAuthorizedInvocation({
    function: rootInvocation.function,
    subInvocations: [rootInvocation],
  })
  const value = new SorobanAuthorizationEntry({ credentials, rootInvocation: wider }).toXdr('base64')
  return [{ name: 'more is authorized', value }]
}

function wrongResources({ ext, resources, resourceFee }: SorobanTransactionData) {
  const { footprint, instructions, diskReadBytes, writeBytes } = resources
  const needs = { footprint, instructions, diskReadBytes, writeBytes }
  const of = (name: string, change: Partial<typeof needs>, fee = resourceFee) => ({
    name,
    value: new SorobanTransactionData({
      ext,
      resources: new SorobanResources({ ...needs, ...change }),
      resourceFee: fee,
    }).toXdr('base64'),
  })
  return [
    of('a fee of 0', {}, 0n),
    of('a fee × 1000', {}, resourceFee * 1_000n),
    of('no instructions', { instructions: 0 }),
    of('instructions × 100', { instructions: Math.min(instructions * 100, 2 ** 32 - 1) }),
    of('writes × 100', { writeBytes: 100_000 }),
    of('no footprint', { footprint: new LedgerFootprint({ readOnly: [], readWrite: [] }) }),
  ]
}

async function liesAbout(request: StellarRequest): Promise<readonly NamedLie[]> {
  await decide(
    nodes.map(({ url }) => url),
    request,
  )
  return everyLie(new Map(nodes.flatMap(({ honest }) => [...honest])), special)
}

test.each(REQUESTS)('every answer that counts for $name is in the table', async ({ of }) => {
  const asked = new Set((await liesAbout(of())).map(({ method }) => method))
  const told = new Set(Object.values(STELLAR_AGREEMENT).flatMap((row) => row.told))
  expect([...asked].filter((method) => !told.has(method))).toEqual([])
})

describe.each(REQUESTS)('$name', ({ of }) => {
  test.each([2, 3])(
    'is decided by the others, of %d endpoints, whatever one of them says',
    async (count) => {
      const urls = nodes.slice(0, count).map(({ url }) => url)
      const request = of()
      const lies = await liesAbout(request)
      const wrong: string[] = []
      const honest = await decide(urls, request)
      for (const [index, { name, lie }] of lies.entries()) {
        const liar = nodes[index % count]
        liar?.tell(lie)
        const problem = difference(honest, await decide(urls, request), count)
        liar?.tell(undefined)
        if (problem !== undefined) wrong.push(`${name}: ${problem}`)
      }
      expect(wrong).toEqual([])
      expect(lies.length).toBeGreaterThan(50)
    },
    600_000,
  )

  test('costs at most what its limit allows with one endpoint, whatever it says', async () => {
    const [node] = nodes
    const request = of()
    for (const { lie } of await liesAbout(request)) {
      node?.tell((method, reply) => {
        const told = lie(method, reply)
        return told === 'silent' ? reply : told
      })
      const { draft } = await decide([node?.url ?? ''], request)
      node?.tell(undefined)
      if (draft === undefined) continue
      const { feePerOperation, operationCount, resourceFee, maxFee } = draft
      expect(feePerOperation * BigInt(operationCount + 1) + resourceFee).toBeLessThanOrEqual(maxFee)
    }
  }, 600_000)
})
