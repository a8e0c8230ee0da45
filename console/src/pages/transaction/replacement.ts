import { parseJson, stringifyJson } from '../../../../clients/typescript/src/exact-json.ts'
import type { Body, Schemas, Transaction } from '../../../../clients/typescript/src/index.ts'
import { type Currency, formatPlain, GWEI_DECIMALS } from '../../format/amounts.ts'
import { indentJson } from '../../format/indent-json.ts'
import { amountIn, FieldError, type Fields } from '../../parts/fields.ts'

/** A transaction on EVM. */
export type EvmTransaction = Extract<Transaction, { network_type: 'evm' }>
type Replacement = Body<'replaceTransaction'>

/** Returns the request for the same content at the highest speed. */
export function speedUpOf({ to, value, data, gas_limit: gas }: EvmTransaction): Replacement {
  return {
    value,
    speed: 'fastest',
    ...(to !== undefined && { to }),
    ...(data !== undefined && data !== '0x' && { data }),
    ...(gas !== undefined && { gas_limit: gas }),
  }
}

/** Returns a request that does what the service does for a cancellation, so that its price can be asked: 0 to the account itself. */
export function cancellationOf({ from, speed }: EvmTransaction): Replacement {
  return { to: from, value: '0', speed: speed?.level ?? 'fast' }
}

/** Returns the price of gas that the shown attempt pays at most, in wei. */
export function priceOf({ max_fee_per_gas, gas_price }: EvmTransaction): string | undefined {
  return max_fee_per_gas ?? gas_price
}

type StellarPayment = Extract<Schemas['OperationSpec'], { type: 'payment' }>

/** The fields with which a person writes the new content. `json`: content for which there are no fields, as the API has it. */
export type ReplaceForm = 'evm' | 'stellar-payment' | 'json'

/** Chooses the fields for the content of a transaction. */
export function replaceFormOf(transaction: Transaction): ReplaceForm {
  if (transaction.network_type === 'evm') return 'evm'
  return paymentOf(transaction) ? 'stellar-payment' : 'json'
}

/** The only operation of a transaction on Stellar, where that is a payment. */
export function paymentOf(transaction: Transaction): StellarPayment | undefined {
  if (transaction.network_type !== 'stellar' || transaction.operations?.length !== 1) return undefined
  const [operation] = transaction.operations
  return operation?.type === 'payment' ? operation : undefined
}

/** Fills the fields with the present content. */
export function filledForm(transaction: Transaction, currency: Currency): Record<string, string> {
  const json = indentJson(stringifyJson(contentOf(transaction)))
  if (transaction.network_type === 'evm') {
    const { to = '', value, data = '0x', gas_limit: gas } = transaction
    return {
      json,
      to,
      value: formatPlain(BigInt(value), currency.decimals),
      data: data === '0x' ? '' : data,
      gas_limit: gas === undefined || data === '0x' ? '' : String(gas),
      speed: 'fast',
    }
  }
  const payment = paymentOf(transaction)
  if (payment === undefined) return { json }
  return {
    json,
    'operations[0].destination': payment.destination,
    'operations[0].amount': formatPlain(BigInt(payment.amount), currency.decimals),
  }
}

/** The present content as a request. */
function contentOf(transaction: Transaction): object {
  switch (transaction.network_type) {
    case 'evm':
      return { ...speedUpOf(transaction), speed: 'fast' }
    case 'stellar': {
      const { operations, memo, max_fee } = transaction
      return { ...(operations && { operations }), ...(memo && { memo }), ...(max_fee && { max_fee }) }
    }
    case 'solana':
      return transaction.instructions ? { instructions: transaction.instructions } : {}
  }
}

interface Written {
  readonly transaction: Transaction
  readonly form: ReplaceForm
  readonly currency: Currency
  readonly network: string
}

/**
 * Makes the request of what a person has written.
 * @throws FieldError for an amount that is none, and for text that is no JSON; everything else is for the service to check
 */
export function requestOf(fields: Fields, { transaction, form, currency, network }: Written): Replacement {
  if (form === 'json') return parseRequest(fields.text('json') ?? '')
  if (form === 'evm') return evmRequestOf(fields, currency)
  const payment = paymentOf(transaction)
  if (payment === undefined || transaction.network_type !== 'stellar') return parseRequest('')
  const operation = {
    ...payment,
    destination: fields.text('operations[0].destination') ?? '',
    amount: amountIn(fields, 'operations[0].amount', currency.decimals) ?? '0',
  }
  const fee = amountIn(fields, 'max_fee', currency.decimals)
  const { memo } = transaction
  return {
    network,
    operations: [operation],
    ...(memo && { memo }),
    ...(fee !== undefined && { max_fee: fee }),
  } as Replacement
}

function evmRequestOf(fields: Fields, { decimals }: Currency): Replacement {
  const { text } = fields
  const speed = text('speed')
  const price = (path: string) => amountIn(fields, path, GWEI_DECIMALS)
  const prices =
    speed === 'own'
      ? {
          max_fee_per_gas: price('max_fee_per_gas'),
          max_priority_fee_per_gas: price('max_priority_fee_per_gas'),
        }
      : { speed }
  const request = {
    to: text('to'),
    value: amountIn(fields, 'value', decimals) ?? '0',
    data: text('data'),
    gas_limit: text('gas_limit'),
    ...prices,
  }
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined)) as Replacement
}

/** The service checks the fields, and says what is wrong with them. */
function parseRequest(text: string): Replacement {
  let value: unknown
  try {
    value = parseJson(text)
  } catch {
    value = undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new FieldError('json', 'This is no JSON object yet.')
  return value as Replacement
}
