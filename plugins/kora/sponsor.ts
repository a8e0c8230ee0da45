import { callApi, isRecord, type Rpc, rpcOf, type World } from '../shared/host.ts'
import { type AccountInfo, readAccounts } from '../shared/solana-accounts.ts'
import {
  associatedAddress,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  TOKEN_PROGRAMS,
} from '../shared/solana-transaction.ts'
import type { Settings } from './config.ts'
import { KoraError } from './errors.ts'
import { withOwnBudget } from './transactions/budget.ts'
import { extensionsOf } from './transactions/rules.ts'
import { messageOf, type UserTransaction } from './transactions/transaction.ts'

/** The relayer that pays the fees, and how it is paid. */
export interface Sponsor {
  readonly world: World
  readonly settings: Settings
  readonly rpc: Rpc
  readonly relayerId: string
  /** Its path in the API. */
  readonly path: string
  /** False if it is paused or disabled. */
  readonly isActive: boolean
  readonly address: string
  /** The owner of the accounts that are paid. */
  readonly paymentAddress: string
  readonly policies: Readonly<Record<string, unknown>>
  /** The mints in which users can pay. */
  readonly tokens: readonly string[]
}

/** Reads a relayer as it is now. */
export async function readSponsor(world: World, settings: Settings, relayerId: string): Promise<Sponsor> {
  const path = `/api/v1/relayers/${encodeURIComponent(relayerId)}`
  const relayer = await callApi(world, { method: 'GET', path })
  if (!isRecord(relayer) || typeof relayer.address !== 'string' || relayer.network_type !== 'solana')
    throw new KoraError('ConfigError', `Relayer ${relayerId} is not on Solana.`)
  const policies = isRecord(relayer.policies) ? relayer.policies : {}
  const { allowed_tokens: allowed, fee_payer_spending: spending, fee_payment_strategy: strategy } = policies
  // Otherwise the service would not hold back what others sign, or would expect payments of its own.
  if (settings.opensAccounts && spending !== 'token_accounts')
    throw wrongPolicy('fee_payer_spending', 'token_accounts')
  if (spending === 'always') throw wrongPolicy('fee_payer_spending', 'own or never')
  if (strategy !== 'relayer' && Array.isArray(allowed) && allowed.length > 0)
    throw wrongPolicy('fee_payment_strategy', 'relayer')
  const { address } = relayer
  const tokens = (Array.isArray(allowed) ? allowed : []).flatMap((token) =>
    isRecord(token) && typeof token.mint === 'string' ? [token.mint] : [],
  )
  const { paymentAddress = address } = settings
  return {
    world,
    settings,
    relayerId,
    rpc: rpcOf(world, relayerId),
    path,
    isActive: relayer.paused !== true && relayer.system_disabled !== true,
    address,
    paymentAddress,
    policies,
    tokens,
  }
}

function wrongPolicy(name: string, expected: string): KoraError {
  return new KoraError('ConfigError', `The relayer's policy ${name} must be ${expected}.`)
}

/** A token in which users can pay. */
export interface FeeToken {
  readonly mint: string
  readonly program: string
  readonly decimals: number
  /** The account that is paid. */
  readonly receiver: string
}

/**
 * Layout of a mint (`spl_token::state::Mint`).
 */
const MINT_BYTES = 82
const DECIMALS_AT = 44

/**
 * Extensions of Token-2022 with which the relayer gets and keeps what is paid: a close authority,
 * confidential transfers, interest and scaled amounts in displays, metadata, groups (spl-token-2022
 * `ExtensionType`). All others are refused: fees, hooks, permanent delegates, pausing.
 */
const HARMLESS_EXTENSIONS: ReadonlySet<number> = new Set([0, 3, 4, 10, 18, 19, 20, 21, 22, 23, 25])

/** Reads the accepted tokens. Mints that nobody should accept are left out. */
export async function readFeeTokens({
  tokens,
  paymentAddress,
  settings,
  rpc,
}: Sponsor): Promise<readonly FeeToken[]> {
  if (tokens.length === 0) return []
  const { accounts: mints } = await readAccounts(tokens, rpc)
  const found = await Promise.all(
    tokens.map(async (mint, index) => {
      const account = mints[index]
      const decimals = account ? safeDecimals(account, settings.rules.extensions.mint) : undefined
      if (!account || decimals === undefined) return []
      const receiver = await associatedAddress(paymentAddress, mint, account.owner)
      return [{ mint, program: account.owner, decimals, receiver }]
    }),
  )
  return found.flat()
}

/** Returns the decimals of a mint; undefined if its tokens cannot pay. */
function safeDecimals(
  account: AccountInfo,
  allowed: ReadonlySet<number> = HARMLESS_EXTENSIONS,
): number | undefined {
  const bytes = Buffer.from(account.data[0], 'base64')
  if (!TOKEN_PROGRAMS.has(account.owner) || bytes.length < MINT_BYTES) return undefined
  const isSafe = (one: number) => HARMLESS_EXTENSIONS.has(one) && (one === 0 || allowed.has(one))
  return extensionsOf(account).every(isSafe) ? bytes[DECIMALS_AT] : undefined
}

/** Finds an accepted token. @throws KoraError */
export function requireToken(tokens: readonly FeeToken[], mint: string): FeeToken {
  const token = tokens.find((one) => one.mint === mint)
  if (token === undefined) throw new KoraError('UnsupportedFeeToken', `fee_token: ${mint} is not accepted.`)
  return token
}

/** The bytes of a token account; one of Token-2022 has at most these, by what its mint asks for. */
const ACCOUNT_BYTES: Readonly<Record<string, number>> = { [TOKEN_PROGRAM]: 165, [TOKEN_2022_PROGRAM]: 195 }

/** What a transaction can cost the relayer, in lamports. */
export interface Cost {
  /** What the network charges. */
  readonly fee: number
  /** The rent of the token accounts that it opens. */
  readonly rent: number
}

/** Returns what a transaction can cost the relayer. */
export async function readCost(transaction: UserTransaction, rpc: Rpc): Promise<Cost> {
  const [fee, ...rents] = await Promise.all([
    readFee(transaction, rpc),
    ...transaction.opened.map((program) =>
      rpc<number>('getMinimumBalanceForRentExemption', [ACCOUNT_BYTES[program]]),
    ),
  ])
  return { fee, rent: rents.reduce((sum, rent) => sum + Number(rent), 0) }
}

async function readFee(transaction: UserTransaction, rpc: Rpc): Promise<number> {
  const { value } = await rpc<{ value: number | null }>('getFeeForMessage', [
    messageOf(transaction),
    { commitment: 'processed' },
  ])
  if (value === null)
    throw new KoraError('InvalidTransaction', 'Blockhash not found: it is too old, or no node knows it yet.')
  return Number(value)
}

/**
 * Returns the price of a transaction in base units of a token: the service's quote, with margins and limits
 * by the relayer's policies, and with the rent of what the transaction opens.
 */
export async function readPrice(
  { world, path }: Sponsor,
  transaction: UserTransaction,
  { mint, decimals }: FeeToken,
): Promise<bigint> {
  const quote = await callApi(world, {
    method: 'POST',
    path: `${path}/transactions/sponsored/quote`,
    body: { transaction: withOwnBudget(transaction), fee_token: mint },
  })
  const { estimated_fee: fee } = isRecord(quote) ? quote : {}
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(String(fee)) ?? []
  if (whole === undefined || fraction.length > decimals) throw new Error(`no price: ${JSON.stringify(quote)}`)
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}

/** A price that a quote named holds for so many seconds, as the service's quotes do. */
const QUOTE_SECONDS = 60

/** Names a quote; the same fee costs the same, whatever the transaction is. */
function quoteKey({ mint }: FeeToken, lamports: number, price: bigint): string {
  return `quote:${mint}:${lamports}:${price}`
}

/** Remembers a quote. A full store refuses it; the price at the time of signing counts then. */
export async function keepQuote(
  { world }: Sponsor,
  token: FeeToken,
  { lamports, price }: { lamports: number; price: bigint },
): Promise<void> {
  await world.kv.set(quoteKey(token, lamports, price), 1, { ttlSec: QUOTE_SECONDS }).catch(() => undefined)
}

/** Returns true if this price was quoted for this fee a moment ago. */
export async function wasQuoted(
  { world }: Sponsor,
  token: FeeToken,
  { lamports, price }: { lamports: number; price: bigint },
): Promise<boolean> {
  return (await world.kv.get(quoteKey(token, lamports, price))) !== null
}
