import type { Address } from '@solana/kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSolana, type TestSolana } from '../../../../simulators/solana/start-solana.ts'
import { advanceNonce, createWallet, signContent, transfer } from '../../../../simulators/solana/wallet.ts'
import type { SolanaDraft, SolanaRequest } from '../../../../src/chains/solana/content.ts'
import { SOLANA_AGREEMENT } from '../../../../src/chains/solana/prepare/agreement.ts'
import { readBudget } from '../../../../src/chains/solana/prepare/fees.ts'
import { createSolanaChain } from '../../../../src/chains/solana/solana-chain.ts'
import { openTransaction } from '../../../../src/chains/solana/wire/message.ts'
import { createLogger } from '../../../../src/log.ts'
import { createHurriedClock } from '../../../support/clock.ts'
import { SOL } from '../../../support/solana-scenario.ts'
import { everyLie, type Liar, type NamedLie, startLiar } from '../../one-liar.ts'
import { AS_PAYER, accountWith, instructionsOf, OTHER, requestOf, SELF, someAddress } from '../build.ts'
import { openNonceAccount } from '../nonces.ts'

/** The market price for priority on this network, in micro-lamports. */
const PRICE = 40_000

/** An endpoint that never answers uses up this time, in ms; two others that answer do not wait for it. */
const TIMEOUT_MS = 4_000
const LONGEST_MS = 3_500

/** A block whose height is at most this far above the real end of a blockhash may be told as its end. */
const LATER_BLOCKS = 64n

const friend = createWallet()
let solana: TestSolana
let nonce: Address
const nodes: Liar[] = []

beforeAll(async () => {
  solana = await startSolana({ slotMs: 'manual' })
  solana.airdrop(SELF, 10n * SOL)
  solana.airdrop(OTHER, SOL)
  solana.airdrop(friend.address, SOL)
  nonce = await openNonceAccount({ solana }, SELF)
  solana.tick(200)
  for (let count = 0; count < 3; count += 1) {
    const node = await startLiar(solana.url, (method, reply) =>
      method === 'getRecentPrioritizationFees' && Array.isArray(reply.result)
        ? { ...reply, result: reply.result.map((entry: object) => ({ ...entry, prioritizationFee: PRICE })) }
        : reply,
    )
    nodes.push(node)
  }
})
afterAll(async () => {
  for (const node of nodes) await node.stop()
  await solana.stop()
})

/** What is asked for, and what honest endpoints make of it. */
const REQUESTS: readonly { readonly name: string; readonly of: () => SolanaRequest }[] = [
  { name: 'an own transfer', of: () => instructionsOf(transfer(SELF, OTHER, 5n)) },
  { name: 'a transfer that fails', of: () => instructionsOf(transfer(SELF, someAddress(9), 5n)) },
  {
    name: 'an own transfer with a durable nonce',
    of: () => instructionsOf(advanceNonce(nonce, SELF), transfer(SELF, OTHER, 5n)),
  },
  {
    name: 'what others have signed',
    of: () => {
      const { blockhash } = solana.blocks.at(-2) ?? { blockhash: '' }
      const steps = [transfer(friend.address, OTHER, 5n)]
      return requestOf({ transaction: signContent({ signers: [AS_PAYER, friend], blockhash, steps }).base64 })
    },
  },
]

function chainOf(urls: readonly string[]) {
  return createSolanaChain({
    network: {
      type: 'solana',
      name: 'local',
      genesisHash: solana.genesisHash,
      isTestnet: true,
      averageBlocktimeMs: 20,
      requiredConfirmations: 0,
      rpcUrls: urls.map((url, index) => ({ url, weight: index === 0 ? 100 : 1e-9 })),
    },
    rpcTimeoutMs: TIMEOUT_MS,
    clock: createHurriedClock(),
    log: createLogger({ level: 'silent' }),
  })
}

/** What is decided about a request: the draft, or the reason of a refusal, and the funds that the account seems to have. */
async function decide(urls: readonly string[], request: SolanaRequest) {
  const chain = chainOf(urls)
  const startedAt = performance.now()
  const [answer, balance] = await Promise.all([chain.prepare(request, accountWith()), chain.balance(SELF)])
  const tookMs = performance.now() - startedAt
  if (answer.kind === 'setup') throw new Error('nothing is set up on Solana')
  const draft = answer.kind === 'ok' ? answer.value.draft : undefined
  const isExpired = draft && (await expires(chain, draft))
  return { answer, draft, balance, isExpired, tookMs }
}

async function expires(chain: ReturnType<typeof chainOf>, draft: SolanaDraft): Promise<boolean> {
  const head = await chain.head()
  return head.kind === 'ok' && chain.expiry.hasExpired(draft, head.value)
}

function refusalOf({ answer }: Decision) {
  return answer.kind === 'refused' ? answer.refusal : undefined
}

type Decision = Awaited<ReturnType<typeof decide>>

/** Returns what differs from what honest endpoints decide; undefined if nothing does that matters. */
function difference(honest: Decision, seen: Decision, endpoints: number): string | undefined {
  // Of two endpoints, one that sees the relayer lose something holds what others have signed: a loss cannot be undone.
  if (endpoints === 2 && refusalOf(seen)?.code === 'fee_payer_at_risk' && refusalOf(seen)?.unanswered)
    return undefined
  // Of two endpoints that contradict each other, the one that succeeds outweighs the refusal.
  if (endpoints === 2 && honest.answer.kind === 'refused' && seen.answer.kind === 'ok') return undefined
  if (endpoints > 2 && seen.tookMs > LONGEST_MS) return `it took ${seen.tookMs} ms`
  if (seen.answer.kind !== honest.answer.kind)
    return `${honest.answer.kind} became ${JSON.stringify(seen.answer, showBigint)}`
  if (seen.answer.kind === 'refused' && honest.answer.kind === 'refused') {
    const [one, other] = [honest.answer.refusal, seen.answer.refusal]
    // Of two endpoints, the silence of one leaves open what it knows, and two that refuse may give two
    // reasons.
    if (endpoints > 2 && (one.code !== other.code || one.unanswered !== other.unanswered))
      return JSON.stringify(other)
  }
  if (seen.isExpired !== honest.isExpired) return 'it has expired'
  if (seen.balance.kind !== 'ok' || honest.balance.kind !== 'ok') return 'no balance'
  const [balance, had] = [seen.balance.value, honest.balance.value]
  if (balance * 10n < had * 9n || (endpoints > 2 && balance * 10n > had * 11n))
    return `balance ${balance}, not ${had}`
  const [draft, wanted] = [seen.draft, honest.draft]
  if (draft === undefined || wanted === undefined) return undefined
  if (draft.unitPrice > wanted.unitPrice * 2n) return `price ${draft.unitPrice}, not ${wanted.unitPrice}`
  if (endpoints > 2 && draft.unitPrice * 2n < wanted.unitPrice)
    return `price ${draft.unitPrice}, not ${wanted.unitPrice}`
  if (endpoints > 2 && draft.fee > wanted.fee * 2n) return `fee ${draft.fee}, not ${wanted.fee}`
  const [units, needed] = [unitsOf(draft), unitsOf(wanted)]
  if (units * 10 < needed * 9) return `units ${units}, not ${needed}`
  if (endpoints > 2 && units > needed * 2) return `units ${units}, not ${needed}`
  return lifeProblem(draft, wanted, endpoints)
}

function lifeProblem(draft: SolanaDraft, wanted: SolanaDraft, endpoints: number): string | undefined {
  const { lifetimeToken } = openTransaction(draft.transaction).message
  // Of two endpoints that name different nonces, the newer one counts: no block can include the wrong one.
  if (wanted.nonceAccount !== undefined)
    return endpoints > 2 && lifetimeToken !== openTransaction(wanted.transaction).message.lifetimeToken
      ? `the account has no nonce ${lifetimeToken}`
      : undefined
  if (!solana.blocks.some(({ blockhash }) => blockhash === lifetimeToken))
    return endpoints > 2 ? `the chain has no blockhash ${lifetimeToken}` : undefined
  const [end, real] = [draft.expiresAt ?? 0n, wanted.expiresAt ?? 0n]
  if (end < real) return `it expires at ${end}, before ${real}`
  return endpoints > 2 && end > real + LATER_BLOCKS ? `it expires at ${end}, long after ${real}` : undefined
}

function unitsOf({ transaction }: SolanaDraft): number {
  return readBudget(openTransaction(transaction).message).unitLimit ?? 0
}

const showBigint = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)

/** Another blockhash, and other base64, in place of each. */
const special = (text: string) =>
  /^[1-9A-HJ-NP-Za-km-z]{43,44}$/.test(text) ? [{ name: 'another', value: String(someAddress(77)) }] : []

async function liesAbout(request: SolanaRequest): Promise<readonly NamedLie[]> {
  await decide(
    nodes.map(({ url }) => url),
    request,
  )
  const asked = new Map(nodes.flatMap(({ honest }) => [...honest]))
  return everyLie(asked, special)
}

test.each(REQUESTS)('every answer that counts for $name is in the table', async ({ of }) => {
  const asked = new Set((await liesAbout(of())).map(({ method }) => method))
  const told = new Set(Object.values(SOLANA_AGREEMENT).flatMap((row) => row.told))
  expect([...asked].filter((method) => !told.has(method))).toEqual([])
})

describe.each(REQUESTS)('$name', ({ of }) => {
  test.each([2, 3])(
    'is decided by the others, of %d endpoints, whatever one of them says',
    async (count) => {
      const urls = nodes.slice(0, count).map(({ url }) => url)
      const request = of()
      const honest = await decide(urls, request)
      const lies = await liesAbout(request)
      const wrong: string[] = []
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

  test('costs at most the cap of one transaction with one endpoint, whatever it says', async () => {
    const [node] = nodes
    const request = of()
    for (const { lie } of await liesAbout(request)) {
      node?.tell((method, reply) => (lie(method, reply) === 'silent' ? reply : lie(method, reply)))
      const { draft } = await decide([node?.url ?? ''], request)
      node?.tell(undefined)
      if (draft !== undefined) expect(draft.fee).toBeLessThanOrEqual(1_000_000n)
    }
  }, 600_000)
})
