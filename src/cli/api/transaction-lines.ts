import {
  type Currency,
  currencyOf,
  formatExact,
  formatGwei,
  GWEI_DECIMALS,
  withAmounts,
} from '../../../console/src/format/amounts.ts'
import {
  type Action,
  actionsOf,
  canceledContent,
  describeCall,
  type Money,
} from '../../../console/src/format/content.ts'
import type { Schemas } from '../../contract/operations.ts'
import { omitUndefined } from '../../lib/object.ts'
import { type ApiClient, ApiFailure, formatRecord, formatTable, queryOf } from './api-command.ts'

type Transaction = Schemas['Transaction']
type Shown = Transaction | Schemas['TransactionWithAttempts']
type Attempt = NonNullable<Shown['attempts']>[number]

/** Returns the native currency of the network that a transaction is on. */
export type CurrencyOf = (transaction: Pick<Transaction, 'network_type' | 'relayer_id'>) => Currency

/** The most entries that the service puts in one answer. */
const PER_PAGE = '100'

/** Without these rights, amounts are shown without the symbol of the network. */
const MAY_LACK = ['insufficient_scope']

/**
 * Reads what the currencies of the networks are called. A key that may not read them gets amounts without a
 * name.
 */
export async function readCurrencies(client: ApiClient): Promise<CurrencyOf> {
  const relayers = await readPages<Schemas['Relayer']>(client, '/relayers')
  const networks = await readPages<Schemas['Network']>(client, '/networks')
  const symbols = new Map(
    networks.map(({ network_type, name, symbol }) => [`${network_type}:${name}`, symbol]),
  )
  const ofRelayers = new Map(
    relayers.map(({ id, network_type, network }) => [id, symbols.get(`${network_type}:${network}`)]),
  )
  return ({ network_type, relayer_id }) => currencyOf(network_type, ofRelayers.get(relayer_id))
}

async function readPages<Item>(client: ApiClient, path: string): Promise<Item[]> {
  const items: Item[] = []
  try {
    for (let page = 1; ; page += 1) {
      const query = queryOf({ page: String(page), per_page: PER_PAGE })
      const { data } = await client.call<Item[]>('GET', `${path}${query}`)
      items.push(...data)
      if (data.length < Number(PER_PAGE)) return items
    }
  } catch (error) {
    if (error instanceof ApiFailure && MAY_LACK.includes(error.code ?? '')) return items
    throw error
  }
}

/** A time in UTC, to the second: `2026-11-20 10:00:22Z`. */
export function formatTime(timestamp: string): string {
  return `${timestamp.slice(0, 19).replace('T', ' ')}Z`
}

/** The actions of a transaction with their receivers. */
interface Summary {
  /** Such as `0.3 ETH`, or `transfer(…)`. */
  readonly what: string
  readonly to: string | undefined
}

/**
 * Says what a transaction pays, or else does, and to whom. Where a no-op took its nonce, it says what it was
 * for.
 */
function summaryOf(transaction: Transaction, currency: Currency, { isWhole = false } = {}): Summary {
  const canceled = canceledContent(transaction)
  const meant = canceled ?? transaction
  const [first, ...others] = actionsOf(meant, currency)
  if (first === undefined)
    return { what: meant.network_type === 'evm' ? '' : 'a prebuilt transaction', to: undefined }
  const more = others.length === 0 || isWhole ? '' : ` and ${others.length} more`
  const what = `${describeAction(first, meant, isWhole)}${more}`
  return { what: canceled === undefined ? what : `nothing instead of ${what}`, to: first.to }
}

/** Says why a transaction waits or ended: by its record, or by its own request. */
function reasonOf(transaction: Transaction, currency: Currency): string | undefined {
  const { status, status_reason, awaits_approval, valid_from } = transaction
  if (status_reason !== undefined) return withAmounts(status_reason, currency)
  if (status !== 'pending') return undefined
  if (awaits_approval) return 'It waits for an approval.'
  const isEarly = valid_from !== undefined && Date.parse(valid_from) > Date.now()
  return isEarly ? `It waits until ${formatTime(valid_from)}.` : undefined
}

function describeAction(
  { verb, money, from, text }: Action,
  transaction: Transaction,
  isWhole: boolean,
): string {
  const amount = money && formatMoney(money, transaction)
  switch (verb) {
    case 'pays':
      return [amount, text && `(${text})`, from && `from ${from}`].filter((part) => part).join(' ')
    case 'lets take':
      return `lets take ${amount}`
    case 'calls':
      return [callOf(transaction, isWhole) ?? text ?? 'a call', amount && `with ${amount}`]
        .filter((part) => part)
        .join(' ')
    case 'other':
      return text ?? ''
    default:
      return [verb, amount && `with ${amount}`].filter((part) => part).join(' ')
  }
}

function callOf(transaction: Transaction, isWhole: boolean): string | undefined {
  if (transaction.network_type !== 'evm' || transaction.data === undefined) return undefined
  const { data, decoded_call: call } = transaction
  if (isWhole || call === undefined) return describeCall(data, call)
  return `${call.function.slice(0, call.function.indexOf('('))}(…)`
}

/** A token has the decimals of its contract, which the service does not tell: it is shown in units. */
function formatMoney({ units, currency, token }: Money, transaction: Transaction): string {
  const named = transaction.network_type === 'evm' ? transaction.decoded_call?.contract_name : undefined
  const amount = currency ? formatAmount(units, currency) : `${units} units`
  return token === undefined ? amount : `${amount} of ${named ?? token}`
}

function formatAmount(units: bigint, { symbol, decimals }: Currency): string {
  return `${formatExact(units, decimals)} ${symbol}`
}

/** The block that includes a transaction; a ledger on Stellar, a slot on Solana. */
interface Inclusion {
  readonly block: bigint | number | string
  readonly time: string | undefined
  readonly fee: bigint | undefined
  /** The parts of the fee. */
  readonly parts: string | undefined
}

function inclusionOf({ network_type, receipt }: Transaction): Inclusion | undefined {
  if (receipt === undefined) return undefined
  switch (network_type) {
    case 'evm': {
      const { block_number: block, block_time: time, fee, gas_used, effective_gas_price: price } = receipt
      const parts = price && `${gas_used} gas at ${formatGwei(BigInt(price))}`
      return { block, time, fee: fee === undefined ? undefined : BigInt(fee), parts }
    }
    case 'stellar': {
      const { ledger: block, ledger_time: time, fee_charged: fee } = receipt
      return { block, time, fee: fee === undefined ? undefined : BigInt(fee), parts: undefined }
    }
    case 'solana': {
      const { slot: block, block_time: time, fee, compute_units: units } = receipt
      const parts = units === undefined ? undefined : `${units} compute units`
      return { block, time, fee: fee === undefined ? undefined : BigInt(fee), parts }
    }
  }
}

const COLUMNS = ['ID', 'STATUS', 'ACCEPTED', 'CONFIRMED', 'PAYS', 'TO', 'FEE', 'BLOCK', 'REASON']

/** Writes transactions as a table: whom each pays and how much, when, and for what fee. */
export function transactionTable(
  transactions: readonly Transaction[],
  { currencyOf: find, namesRelayer }: { readonly currencyOf: CurrencyOf; readonly namesRelayer: boolean },
): string[] {
  const rows = transactions.map((transaction) => {
    const { id, relayer_id, status, created_at, confirmed_at } = transaction
    const currency = find(transaction)
    const { what, to } = summaryOf(transaction, currency)
    const included = inclusionOf(transaction)
    const fee = included?.fee === undefined ? undefined : formatAmount(included.fee, currency)
    const confirmed = confirmed_at && formatTime(confirmed_at)
    const cells = [
      id,
      status,
      formatTime(created_at),
      confirmed,
      what,
      to,
      fee,
      included?.block,
      reasonOf(transaction, currency),
    ]
    return namesRelayer ? [relayer_id, ...cells] : cells
  })
  return formatTable(namesRelayer ? ['RELAYER', ...COLUMNS] : COLUMNS, rows)
}

/** Writes a transaction with everything that a person looks for first, and its attempts as a table. */
export function transactionLines(transaction: Shown, currency: Currency): string[] {
  const { what, to } = summaryOf(transaction, currency, { isWhole: true })
  const included = inclusionOf(transaction)
  const block = included && [included.block, included.time && `at ${formatTime(included.time)}`]
  const fee = included?.fee !== undefined && formatAmount(included.fee, currency)
  const {
    id,
    relayer_id,
    status,
    status_reason: _reason,
    created_at,
    sent_at,
    confirmed_at,
    ...rest
  } = transaction
  const first = omitUndefined({
    id,
    relayer: relayer_id,
    status,
    reason: reasonOf(transaction, currency),
    pays: what || undefined,
    to,
    accepted: formatTime(created_at),
    sent: sent_at && formatTime(sent_at),
    confirmed: confirmed_at && formatTime(confirmed_at),
    block: block?.filter((part) => part !== undefined).join(' '),
    fee: fee ? [fee, included?.parts && `(${included.parts})`].filter((part) => part).join(' ') : undefined,
  })
  const others = Object.entries(rest)
    .filter(([name]) => !TOLD.has(name) && !(name in first))
    .map(([name, value]) => [name, withUnit(name, value, currency)])
  const actions = actionsOf(transaction, currency).slice(1)
  return [
    ...formatRecord({ ...first, ...Object.fromEntries(others) }),
    ...actions.map((action) =>
      ['and ', describeAction(action, transaction, true), action.to && ` to ${action.to}`].join(''),
    ),
    ...attemptLines(transaction, currency),
  ]
}

/** Prices and fees get their unit, with every digit. */
function withUnit(name: string, value: unknown, currency: Currency): unknown {
  if (typeof value === 'object' || value === undefined) return value
  if (PRICES.has(name)) return `${formatExact(BigInt(String(value)), GWEI_DECIMALS)} gwei`
  return FEES.has(name) ? formatAmount(BigInt(String(value)), currency) : value
}

const PRICES: ReadonlySet<string> = new Set(['gas_price', 'max_fee_per_gas', 'max_priority_fee_per_gas'])

/** `fee` is that of the block, once there is one. */
const FEES: ReadonlySet<string> = new Set(['fee', 'max_fee'])

/**
 * The fields that the first lines or the table of attempts tell, and the signature, which no person reads.
 * `--json` has them.
 */
const TOLD: ReadonlySet<string> = new Set([
  'attempts',
  'data',
  'decoded_call',
  'instructions',
  'operations',
  'receipt',
  'requested',
  'signature',
  'transaction',
  'transaction_signature',
  'transaction_xdr',
  'transfers',
  'transfers_truncated',
  'value',
])

const ATTEMPT_COLUMNS = [
  'ATTEMPT',
  'KIND',
  'OUTCOME',
  'NONCE',
  'PAYS',
  'TO',
  'PRICE',
  'SIGNED',
  'HASH',
  'ERROR',
]

function attemptLines(transaction: Shown, currency: Currency): string[] {
  const { attempts = [] } = transaction
  if (attempts.length === 0) return []
  const rows = attempts.map((attempt) => {
    const { number, kind, outcome, signed_at, hash, error } = attempt
    const { what, to } = contentOf(attempt, transaction, currency)
    const price = priceOf(attempt, currency)
    return [number, kind, outcome, nonceOf(attempt), what, to, price, formatTime(signed_at), hash, error]
  })
  return ['', ...formatTable(ATTEMPT_COLUMNS, rows)]
}

/** On EVM every attempt has content of its own; elsewhere it is inside the signed bytes. */
function contentOf(attempt: Attempt, { from, ...transaction }: Transaction, currency: Currency): Summary {
  if (transaction.network_type !== 'evm' || !('value' in attempt)) return { what: '', to: undefined }
  const { to, value, data } = attempt
  const { decoded_call, transfers, to: _to, requested: _requested, ...common } = transaction
  const isSame = data === transaction.data && to === transaction.to && value === transaction.value
  const content = omitUndefined({ to, value, data, ...(isSame && { decoded_call, transfers }) })
  return summaryOf({ ...common, from, ...content }, currency)
}

function nonceOf(attempt: Attempt): bigint | number | string | undefined {
  if ('nonce' in attempt) return attempt.nonce
  return 'sequence_number' in attempt ? attempt.sequence_number : undefined
}

/** The highest price of a unit of gas on EVM; elsewhere the highest fee. */
function priceOf(attempt: Attempt, currency: Currency): string | undefined {
  if ('fee' in attempt) return formatAmount(BigInt(attempt.fee), currency)
  const price = attempt.max_fee_per_gas ?? attempt.gas_price
  return price === undefined ? undefined : formatGwei(BigInt(price))
}

/**
 * Writes the state of a transaction as one line without its time, so that two equal ones can be recognised.
 */
export function stateLine(transaction: Transaction, currency: Currency): string {
  const { id, status, hash } = transaction
  const { what, to } = summaryOf(transaction, currency)
  const included = inclusionOf(transaction)
  const parts = [
    id,
    status,
    to === undefined ? what : `${what} to ${to}`,
    included && `block ${included.block}`,
    included?.fee !== undefined && `fee ${formatAmount(included.fee, currency)}`,
    hash,
    reasonOf(transaction, currency),
  ]
  return parts.filter((part) => part).join('  ')
}
