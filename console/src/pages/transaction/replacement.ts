import { parseJson, stringifyJson } from '../../../../clients/typescript/src/exact-json.ts'
import type { Body, Schemas, Transaction } from '../../../../clients/typescript/src/index.ts'
import { type Currency, formatPlain, GWEI_DECIMALS } from '../../format/amounts.ts'
import { indentJson } from '../../format/indent-json.ts'
import { transferIn, withTransfer } from '../../format/solana-transfers.ts'
import { amountIn, FieldError, type WrittenFields } from '../../parts/fields.ts'

/** A transaction on EVM. */
export type EvmTransaction = Extract<Transaction, { network_type: 'evm' }>
/** A transaction on Solana. */
export type SolanaTransaction = Extract<Transaction, { network_type: 'solana' }>
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
export type ReplaceForm = 'evm' | 'solana' | 'stellar-payment' | 'json'

/** Chooses the fields for the content of a transaction. */
export function replaceFormOf(transaction: Transaction): ReplaceForm {
  if (transaction.network_type !== 'stellar') return transaction.network_type
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
  if (transaction.network_type === 'solana') return { json, ...filledSolana(transaction) }
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
      return transaction.instructions
        ? { instructions: transaction.instructions, speed: 'fast' }
        : { transaction: transaction.transaction ?? '', speed: 'fast' }
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
export function requestOf(
  fields: WrittenFields,
  { transaction, form, currency, network }: Written,
): Replacement {
  if (form === 'json') return parseRequest(fields.text('json') ?? '')
  if (form === 'evm') return evmRequestOf(fields, currency)
  if (form === 'solana' && transaction.network_type === 'solana') return solanaRequestOf(fields, transaction)
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

function evmRequestOf(fields: WrittenFields, { decimals }: Currency): Replacement {
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
  const request: Readonly<Record<string, unknown>> = {
    to: text('to'),
    value: amountIn(fields, 'value', decimals) ?? '0',
    data: text('data'),
    gas_limit: text('gas_limit'),
    ...prices,
  }
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined)) as Replacement
}

/** Fields for each instruction: receiver and amount of a transfer, and the parts of every other one as the API has them. */
function filledSolana({ instructions, transaction = '' }: SolanaTransaction): Record<string, string> {
  const filled = (instructions ?? []).flatMap((instruction, index) => {
    const path = `instructions[${index}]`
    const transfer = transferIn(instruction)
    if (transfer === undefined)
      return [
        [`${path}.program_id`, instruction.program_id],
        [`${path}.accounts`, instruction.accounts.map(lineOf).join('\n')],
        [`${path}.data`, instruction.data],
      ]
    const { receiver, units, decimals } = transfer
    return [
      [`${path}.accounts[${receiver}].pubkey`, instruction.accounts[receiver]?.pubkey ?? ''],
      [`${path}.data`, formatPlain(units, decimals)],
    ]
  })
  return { ...Object.fromEntries(filled), transaction, speed: 'fast' }
}

function lineOf({ pubkey, is_signer, is_writable }: Schemas['SolanaAccountMeta']): string {
  return [pubkey, is_signer && SIGNER, is_writable && WRITABLE].filter(Boolean).join(' ')
}

/** The words behind an account of an instruction. */
const SIGNER = 'signer'
const WRITABLE = 'writable'

function accountOf(line: string): Schemas['SolanaAccountMeta'] {
  const [pubkey = '', ...words] = line.trim().split(/\s+/)
  return { pubkey, is_signer: words.includes(SIGNER), is_writable: words.includes(WRITABLE) }
}

function solanaRequestOf(fields: WrittenFields, { instructions }: SolanaTransaction): Replacement {
  const { text } = fields
  const speed = text('speed')
  if (instructions === undefined) return { transaction: text('transaction') ?? '', speed } as Replacement
  const written = instructions.map((instruction, index) => {
    const path = `instructions[${index}]`
    const transfer = transferIn(instruction)
    if (transfer === undefined)
      return {
        program_id: text(`${path}.program_id`) ?? '',
        accounts: text(`${path}.accounts`)?.split('\n').map(accountOf) ?? [],
        data: text(`${path}.data`) ?? '',
      }
    const units = BigInt(amountIn(fields, `${path}.data`, transfer.decimals) ?? 0)
    if (units > MOST_UNITS) throw new FieldError(`${path}.data`, 'Larger than the maximum amount on Solana.')
    return withTransfer(instruction, transfer, {
      units,
      to: text(`${path}.accounts[${transfer.receiver}].pubkey`) ?? '',
    })
  })
  return { instructions: written, speed } as Replacement
}

/** Amounts on Solana have 64 bits. */
const MOST_UNITS = 2n ** 64n - 1n

/** The service checks the fields, and says what is wrong with them. */
function parseRequest(text: string): Replacement {
  let value: unknown
  try {
    value = parseJson(text)
  } catch {
    value = undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new FieldError('json', 'Not a JSON object.')
  return value as Replacement
}
