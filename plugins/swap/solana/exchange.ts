import { randomBytes } from 'node:crypto'
import { isRecord, NodeError, type Rpc, rpcOf, Unavailable, type World } from '../../shared/host.ts'
import { askHttp } from '../../shared/http-price.ts'
import { integerIn, readAccounts, tokenAccountIn } from '../../shared/solana-accounts.ts'
import {
  associatedAddress,
  TOKEN_PROGRAM,
  TOKEN_PROGRAMS,
  WRAPPED_SOL,
} from '../../shared/solana-transaction.ts'
import type { SolanaRouter, Swap } from '../config.ts'
import { type Exchange, Refusal, type Sale, type SwapRecord, type Transfer } from '../exchange.ts'
import { accountOf, coinsOf, networkOf } from '../relayer.ts'
import {
  type Role,
  type SaleInstruction,
  saleInstructions,
  TOKEN_ACCOUNT_BYTES,
  temporaryOf,
} from './instructions.ts'
import { askRoute, requireForeign, takeSwap } from './route.ts'
import { type Effect, MAX_UNITS, simulateSale, unitLimit, unitPrice } from './simulate.ts'

const COIN_DECIMALS = 9

/** What a signature costs, in lamports (agave `DEFAULT_TARGET_LAMPORTS_PER_SIGNATURE`, halved). */
const SIGNATURE_FEE = 5_000n

/** Prices are in millionths of a lamport for each compute unit. */
const MICRO = 1_000_000n

/**
 * The limit of compute units is what the rehearsal took, and half of that again: the pools move until the
 * block.
 */
const UNIT_MARGIN = { times: 3n, of: 2n } as const

/** Amounts of tokens and lamports have 64 bits. */
const MAX_AMOUNT = 2n ** 64n - 1n

/**
 * Makes the market of a swap on Solana: a router whose answer is not trusted. The sale is one transaction,
 * which has no effect unless what {@link saleInstructions} demands holds. @throws Refusal for a relayer on
 * another network, and for a token that is none
 */
export async function openSolanaExchange(swap: Swap<SolanaRouter>, world: World): Promise<Exchange> {
  const { relayerId, router, token, slippageBps } = swap
  const rpc = answering(rpcOf(world, relayerId))
  const [relayer, network] = await Promise.all([accountOf(relayerId, world), networkOf(relayerId, world)])
  if (network !== router.network)
    throw new Refusal('wrong_network', `The relayer ${relayerId} is on ${network}, not on ${router.network}.`)
  const program = await programOf(token, rpc)
  const source = await associatedAddress(relayer, token, program)
  const wrapped = await associatedAddress(relayer, WRAPPED_SOL, TOKEN_PROGRAM)
  const none = async () => undefined
  /** What was rehearsed is what is sent: the router would answer the same question differently. */
  const rehearsed = new WeakMap<Sale, object>()
  return {
    router: `solana:${network}`,
    coinDecimals: COIN_DECIMALS,
    async holdings() {
      const [coin, { accounts }] = await Promise.all([coinsOf(relayerId, world), readAccounts([source], rpc)])
      return { coin, token: tokenAccountIn(accounts[0] ?? null)?.amount ?? 0n }
    },
    ask: async (from, now) => {
      if (from.type === 'http') return askHttp(from, now)
      if (from.type === 'fixed') return from.price
      throw new Error('the settings have no such source on Solana')
    },
    async rehearse(sale) {
      const { amount, least } = sale
      if (amount > MAX_AMOUNT || least > MAX_AMOUNT)
        throw new Refusal('amount_too_large', 'The amounts of the sale have more than 64 bits.')
      const route = await askRoute(router, { relayer, mint: token, amount, slippageBps })
      const [sold, bought] = await Promise.all([
        temporaryOf(relayer, newSeed(), program),
        temporaryOf(relayer, newSeed(), TOKEN_PROGRAM),
      ])
      const replaced = new Map([
        [source, sold.address],
        [wrapped, bought.address],
      ])
      const taken = takeSwap(route, router, { relayer, replaced })
      const [rent, price] = await Promise.all([
        readRent(rpc),
        readUnitPrice(
          [relayer, ...taken.accounts.filter((each) => each.isWritable).map(({ pubkey }) => pubkey)],
          rpc,
        ),
        requireForeign(taken, { relayer, sale: [sold.address, bought.address] }, rpc),
      ])
      const { decimals } = swap
      const parts = { relayer, source, mint: token, decimals, sold, bought, rent, swap: taken }
      const instructions = saleInstructions(parts, sale)
      const trial = [unitLimit(MAX_UNITS), unitPrice(0n), ...instructions]
      const effect = await simulateSale({ relayer, source, instructions: trial }, rpc)
      if (effect.failedAt !== undefined) throw failureOf(trial[effect.failedAt]?.role, effect)
      const wanted = (effect.units * UNIT_MARGIN.times) / UNIT_MARGIN.of
      const units = wanted < BigInt(MAX_UNITS) ? wanted : BigInt(MAX_UNITS)
      rehearsed.set(sale, {
        instructions: [unitLimit(Number(units)), unitPrice(price), ...instructions].map(requestOf),
      })
      return {
        sold: effect.tokens,
        bought: effect.coins + SIGNATURE_FEE,
        cost: SIGNATURE_FEE + (units * price + MICRO - 1n) / MICRO,
        bounds: {},
      }
    },
    before: none,
    bodyOf(sale) {
      const body = rehearsed.get(sale)
      if (body === undefined) throw new Error('the sale was not rehearsed')
      return body
    },
    moved: (record) => movedIn(record, { ours: new Set([relayer, source]), token }),
    after: () => undefined,
    cleanup: none,
  }
}

/** What a node refuses of these questions is no answer. */
function answering(rpc: Rpc): Rpc {
  return <Result>(method: string, params: readonly unknown[] | object) =>
    rpc<Result>(method, params).catch((error: unknown) => {
      throw error instanceof NodeError ? new Unavailable(error.message) : error
    })
}

/** Returns the token program of a mint. @throws Refusal for anything else */
async function programOf(mint: string, rpc: Rpc): Promise<string> {
  const { accounts } = await readAccounts([mint], rpc)
  const owner = accounts[0]?.owner
  if (owner !== undefined && TOKEN_PROGRAMS.has(owner)) return owner
  throw new Refusal('unknown_token', `${mint} is no mint of a token.`)
}

/**
 * Names new accounts unforeseeably: lamports that a stranger sends to an address before would stop its
 * opening.
 */
function newSeed(): string {
  return randomBytes(6).toString('base64url')
}

async function readRent(rpc: Rpc): Promise<bigint> {
  const rent = integerIn(await rpc<unknown>('getMinimumBalanceForRentExemption', [TOKEN_ACCOUNT_BYTES]))
  if (rent === undefined) throw new Unavailable('The node does not tell what an account must hold.')
  return rent
}

/** Three of four recent blocks took less, for the same accounts. */
const PRICE_RANK = { times: 3, of: 4 } as const

/**
 * Reads the price of priority, in micro-lamports for each compute unit. What a liar says is bounded by
 * `most_cost_bps`.
 */
async function readUnitPrice(written: readonly string[], rpc: Rpc): Promise<bigint> {
  const told = await rpc<unknown>('getRecentPrioritizationFees', [[...new Set(written)]])
  const prices = (Array.isArray(told) ? told : [undefined]).map((each) =>
    integerIn(isRecord(each) ? each.prioritizationFee : undefined),
  )
  if (!prices.every((price) => price !== undefined))
    throw new Unavailable('The node does not tell what priority costs.')
  const sorted = prices.toSorted((one, other) => (one < other ? -1 : one > other ? 1 : 0))
  return sorted[Math.floor((sorted.length * PRICE_RANK.times) / PRICE_RANK.of)] ?? 0n
}

/** Why a sale that fails on the newest state is not sent. */
const FAILURES: Readonly<Partial<Record<Role, readonly [code: string, message: string]>>> = {
  swap: ['arrives_too_little', 'The router does not swap at the price of both sources now'],
  least: ['arrives_too_little', 'Less arrives than the price of both sources demands'],
  unwrap: ['untrusted_route', 'The router keeps the account that the coins arrive in'],
  close: ['untrusted_route', 'The router sells something else than the amount, or keeps the account'],
}

function failureOf(role: Role | undefined, { failure }: Effect): Refusal {
  const [code, message] = (role && FAILURES[role]) ?? [
    'simulation_failed',
    'The accounts of the sale cannot be opened and funded: the token may need accounts with extensions, such as for a fee on transfers',
  ]
  return new Refusal(code, `${message}: the simulation fails (${failure}).`)
}

function requestOf({ program, accounts, data }: Omit<SaleInstruction, 'role'>): object {
  return {
    program_id: program,
    accounts: accounts.map(({ pubkey, isSigner, isWritable }) => ({
      pubkey,
      is_signer: isSigner,
      is_writable: isWritable,
    })),
    data: Buffer.from(data).toString('base64'),
  }
}

/**
 * Adds up what a block tells of the relayer: the tokens that left, and the coins that arrived without the
 * fee. What the new accounts hold meanwhile, and wrapped, comes back to the relayer, and cancels out. Pure.
 */
function movedIn(
  { transfers = [] }: SwapRecord,
  { ours, token }: { readonly ours: ReadonlySet<string>; readonly token: string },
) {
  const told = transfers.filter(({ expected }) => expected !== true)
  const gained = (asset: string) =>
    told
      .filter((each) => each.asset === asset)
      .reduce((sum, { from, to, amount }: Transfer) => {
        const value = BigInt(amount)
        return sum + (to && ours.has(to) ? value : 0n) - (from && ours.has(from) ? value : 0n)
      }, 0n)
  return { sold: -gained(token), bought: gained('native') }
}
