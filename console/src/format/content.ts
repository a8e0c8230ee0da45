import type { Schemas } from '../../../clients/typescript/src/index.ts'
import type { Currency } from './amounts.ts'
import { transferIn } from './solana-transfers.ts'

type Transaction = Schemas['Transaction']
type EvmTransaction = Extract<Transaction, { network_type: 'evm' }>
type EvmContent = Pick<EvmTransaction, 'to' | 'value' | 'data' | 'decoded_call' | 'transfers'>
type Instruction = Schemas['SolanaInstruction']
type Operation = Schemas['OperationSpec']
type Transfer = Schemas['Transfer']

/** An amount of an asset, in its smallest unit. */
export interface Money {
  readonly units: bigint
  /** Absent if no trusted source has the decimals: the units are then shown as they are. */
  readonly currency?: Currency
  /** The contract, mint or issuer of an asset that is not the native currency. */
  readonly token?: string
}

/** One thing that a transaction does. */
export interface Action {
  /** Says in a word what happens, where it is no payment: `lets take`, `calls`. */
  readonly verb: 'pays' | 'lets take' | 'calls' | 'creates a contract' | 'does nothing' | 'other'
  readonly money?: Money
  /** Who receives, or may take, or is called. */
  readonly to?: string
  /** Who pays, where that is not the account that sends the transaction. */
  readonly from?: string
  /** The words for what is neither a payment nor a call. */
  readonly text?: string
}

/**
 * Tells what a transaction does, as far as its own content is certain about it. Empty where the content is
 * bytes that the console does not read.
 * @param native The native currency of its network.
 */
export function actionsOf(transaction: Transaction, native: Currency): readonly Action[] {
  const named = (action: Action) => withName(action, transaction.transfers)
  switch (transaction.network_type) {
    case 'evm':
      return evmActions(transaction, { native, from: transaction.from })
    case 'stellar': {
      const paid = transferActions(transaction, native)
      if (isTold(transaction)) return paid
      // A transaction with a contract call has no other operation.
      const isRead = transaction.operations?.every(({ type }) => type === 'invoke_contract') ?? true
      if (isRead && paid.length > 0) return paid
      return (transaction.operations ?? []).map((operation) => stellarAction(operation, native)).map(named)
    }
    case 'solana':
      if (transaction.instructions === undefined || isTold(transaction))
        return transferActions(transaction, native)
      return transaction.instructions.map((instruction) => solanaAction(instruction, native)).map(named)
  }
}

/** Tells whether a block says what moved: that is certain, and more than the content shows. */
function isTold({ transfers = [] }: Transaction): boolean {
  return transfers.some(({ expected }) => expected === undefined)
}

/** Replaces the address of a token by the name that the operator gave it. */
function withName(action: Action, transfers: readonly Transfer[] = []): Action {
  const { token, units, currency } = action.money ?? {}
  if (token === undefined || units === undefined) return action
  const known = transfers.find(
    ({ asset, symbol }) =>
      symbol !== undefined && (asset === token || asset === `${currency?.symbol}:${token}`),
  )
  return known === undefined
    ? action
    : { ...action, money: moneyOf({ ...known, amount: String(units) }, NO_CURRENCY) }
}

/** Tells the transfers that the service has read in the content. */
function transferActions(
  { transfers = [], from }: Pick<Transaction, 'transfers' | 'from'>,
  native: Currency,
): readonly Action[] {
  return transfers.map((transfer) => transferAction(transfer, { native, from }))
}

function transferAction(transfer: Transfer, { native, from, called }: TransferContext): Action {
  const { to, token_id: id } = transfer
  // The address of a called contract has its checksum (EIP-55).
  const asset = transfer.asset === called?.toLowerCase() ? called : transfer.asset
  return {
    verb: 'pays',
    money: moneyOf({ ...transfer, asset }, native),
    ...(to !== undefined && { to }),
    ...(transfer.from !== undefined && transfer.from !== from && { from: transfer.from }),
    ...(id !== undefined && { text: `token ${id}` }),
  }
}

/**
 * A token that the operator names needs no address. Of others, decimals that the chain checks are certain;
 * without them, the units are shown as they are.
 */
function moneyOf({ asset, amount, symbol, decimals }: Transfer, native: Currency): Money {
  const units = BigInt(amount)
  if (asset === 'native') return { units, currency: native }
  if (symbol !== undefined && decimals !== undefined) return { units, currency: { symbol, decimals } }
  const [code = '', issuer] = asset.split(':')
  if (issuer !== undefined)
    return { units, currency: { symbol: code, decimals: decimals ?? STELLAR_DECIMALS }, token: issuer }
  return {
    units,
    token: asset,
    ...(decimals !== undefined && { currency: { symbol: 'tokens', decimals } }),
  }
}

interface EvmContext {
  readonly native: Currency
  /** The account that sends. */
  readonly from: string
}

interface TransferContext extends EvmContext {
  /** The called contract. */
  readonly called?: string
}

/** Tells what content on an EVM network does. */
function evmActions(
  { to, value, data = '0x', decoded_call: call, transfers = [] }: EvmContent,
  { native, from }: EvmContext,
): readonly Action[] {
  const units = BigInt(value)
  const moved = units > 0n ? { money: { units, currency: native } } : {}
  if (to === undefined) return [{ verb: 'creates a contract', ...moved }]
  if (data !== '0x') {
    const paid = transfers
      .filter(({ asset }) => asset !== 'native')
      .map((transfer) => transferAction(transfer, { native, from, called: to }))
    const token = units === 0n ? tokenAction(to, data, call) : undefined
    if (paid.length === 0) return [token ?? { verb: 'calls', to, ...moved }]
    return units === 0n ? paid : [...paid, { verb: 'calls', to, ...moved }]
  }
  if (units === 0n && to.toLowerCase() === from.toLowerCase()) return [{ verb: 'does nothing' }]
  return [{ verb: 'pays', to, money: { units, currency: native } }]
}

/**
 * Returns a transaction with the content of its request, where a no-op took its nonce: then it goes on saying
 * what it was for. Undefined for all others.
 */
export function canceledContent<T extends Transaction>(transaction: T): T | undefined {
  if (transaction.network_type !== 'evm' || transaction.requested === undefined) return undefined
  const { to: _to, data: _data, decoded_call: _call, transfers: _transfers, requested, ...rest } = transaction
  const [action] = evmActions(transaction, { native: NO_CURRENCY, from: transaction.from })
  return action?.verb === 'does nothing' ? ({ ...rest, ...requested } as T) : undefined
}

/** Whether content does nothing depends on no currency. */
const NO_CURRENCY: Currency = { symbol: '', decimals: 0 }

/**
 * The functions of ERC-20 (EIP-20) that move tokens of the sender, or let others do so, by their selectors.
 */
const TOKEN_CALLS: Readonly<Record<string, Action['verb']>> = {
  a9059cbb: 'pays', // transfer(address,uint256)
  '095ea7b3': 'lets take', // approve(address,uint256)
}

/**
 * Reads a call of a token. Data that is not exactly an address and an amount is another function, whatever
 * its selector.
 */
function tokenAction(token: string, data: string, call: DecodedCall | undefined): Action | undefined {
  const [, selector = '', address = '', units] =
    /^0x([0-9a-f]{8})0{24}([0-9a-f]{40})([0-9a-f]{64})$/.exec(data.toLowerCase()) ?? []
  const verb = TOKEN_CALLS[selector]
  if (verb === undefined) return undefined
  // The decoded call has the same address with its checksum (EIP-55).
  const named = String(call?.args[0]?.value)
  const to = named.toLowerCase() === `0x${address}` ? named : `0x${address}`
  return { verb, to, money: { units: BigInt(`0x${units}`), token } }
}

/** Every classic asset of Stellar has seven decimals, as lumens have (CAP-46-6, stellar-core `Asset`). */
const STELLAR_DECIMALS = 7

function stellarAction(operation: Operation, native: Currency): Action {
  const moneyOf = (asset: Schemas['StellarAsset'], units: bigint | number | string): Money =>
    asset.type === 'native'
      ? { units: BigInt(units), currency: native }
      : {
          units: BigInt(units),
          currency: { symbol: asset.code, decimals: STELLAR_DECIMALS },
          token: asset.issuer,
        }
  switch (operation.type) {
    case 'payment':
      return {
        verb: 'pays',
        to: operation.destination,
        money: moneyOf(operation.asset, operation.amount),
      }
    case 'create_account':
      return {
        verb: 'pays',
        to: operation.destination,
        money: { units: BigInt(operation.starting_balance), currency: native },
        text: 'creates the account',
      }
    case 'path_payment_strict_send':
      return {
        verb: 'pays',
        to: operation.destination,
        money: moneyOf(operation.send_asset, operation.send_amount),
        text: 'exchanged on the way',
      }
    case 'path_payment_strict_receive':
      return {
        verb: 'pays',
        to: operation.destination,
        money: moneyOf(operation.send_asset, operation.send_max),
        text: 'at most, exchanged on the way',
      }
    case 'account_merge':
      return {
        verb: 'other',
        to: operation.destination,
        text: 'closes the account, and pays all that it has',
      }
    case 'invoke_contract':
      return { verb: 'calls', to: operation.contract_address, text: `${operation.function_name}(…)` }
    default:
      return { verb: 'other', text: operation.type.replaceAll('_', ' ') }
  }
}

function solanaAction(instruction: Instruction, native: Currency): Action {
  const transfer = transferIn(instruction)
  if (transfer === undefined) return { verb: 'calls', to: instruction.program_id }
  const { units, decimals, mint: token, receiver } = transfer
  const to = instruction.accounts[receiver]?.pubkey
  const currency = token === undefined ? native : { symbol: 'tokens', decimals }
  return { verb: 'pays', money: { units, currency, ...(token && { token }) }, ...(to && { to }) }
}

/** The call that the service has decoded. */
export type DecodedCall = NonNullable<EvmTransaction['decoded_call']>

/**
 * Describes call data: the function with its arguments where the service knows it, and otherwise the selector
 * and the length.
 */
export function describeCall(data: string, call: DecodedCall | undefined): string {
  if (call === undefined)
    return `${data.slice(0, 10).toLowerCase()} and ${Math.max(0, data.length - 10) / 2} bytes`
  const name = call.function.slice(0, call.function.indexOf('('))
  return `${name}(${call.args.map((one) => describeNamed(one.name, one.value)).join(', ')})`
}

function describeNamed(name: string | null, value: unknown): string {
  return name === null ? describeValue(value) : `${name}: ${describeValue(value)}`
}

function describeValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(describeValue).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  return `{${Object.entries(value)
    .map(([name, field]) => describeNamed(name, field))
    .join(', ')}}`
}
