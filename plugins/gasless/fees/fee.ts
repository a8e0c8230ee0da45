import { encodeFunctionData, type Hex, hexToBigInt } from 'viem'
import { isRecord, NodeError, type Rpc, Unavailable, type World } from '../../shared/host.ts'
import type { BatchCall } from '../accounts/account.ts'
import { RpcError } from '../errors.ts'
import type { Payment } from '../intent.ts'
import type { NetworkSettings } from '../networks.ts'
import type { Receipt } from '../told.ts'
import { BALANCE, readArrival } from './arrival.ts'
import { paymentIn, type TokenPayment } from './payment.ts'
import { readTokenPrice } from './price.ts'
import { findQuote, type Quote, shareQuote } from './quote.ts'
import type { FeeToken } from './tokens.ts'

/** Whoever asks for a price or for a check of what is paid. */
export interface FeeContext {
  readonly network: NetworkSettings
  readonly rpc: Rpc
  readonly world: World
}

/** Finds a token in which users pay. @throws RpcError `unsupportedPaymentToken` */
export function feeTokenOf(address: Hex, { feeTokens, chainId }: NetworkSettings): FeeToken {
  const token = feeTokens.get(address)
  if (token !== undefined) return token
  const accepted = [...feeTokens.keys()].join(', ') || 'none'
  throw new RpcError(
    'unsupportedPaymentToken',
    `payment.address: ${address} pays no fees on the chain ${chainId}; accepted: ${accepted}.`,
  )
}

/** Quotes the price of gas in a token for a short time. @throws Unavailable */
export function quote(token: FeeToken, context: FeeContext): Promise<Quote> {
  return shareQuote(nameOf(token, context), context.world, () => readNow(token, context))
}

function nameOf({ address }: FeeToken, { network: { chainId } }: Pick<FeeContext, 'network'>): string {
  return `${chainId}:${address}`
}

async function readNow(token: FeeToken, { rpc, world }: Pick<FeeContext, 'rpc' | 'world'>) {
  const [price, gasPrice] = await Promise.all([
    readTokenPrice(token, { rpc, now: world.now() }),
    readGasPrice(rpc),
  ])
  return { price, gasPrice: BigInt(gasPrice) }
}

/** Reads the price of gas. @throws Unavailable without one */
export function readGasPrice(rpc: Rpc): Promise<Hex> {
  return rpc<Hex>('eth_gasPrice', []).catch((error: unknown) => {
    throw error instanceof NodeError ? new Unavailable(error.message) : error
  })
}

const COIN = 10n ** 18n

/** Returns the fee for an amount of wei in base units of a token, with the margin, rounded up. Pure. */
export function feeFor(
  wei: bigint,
  { decimals }: Pick<FeeToken, 'decimals'>,
  { price, marginPercent }: { readonly price: Quote['price']; readonly marginPercent: number },
): bigint {
  const above = wei * price.numerator * 10n ** BigInt(decimals) * BigInt(100 + marginPercent)
  const below = price.denominator * COIN * 100n
  return (above + below - 1n) / below
}

/** The part of a request about its payment, and the batch that has it. */
export interface Paying {
  /** The token that `payment` names; undefined if the application pays. */
  readonly token: Hex | undefined
  /** A quote. */
  readonly context: string | undefined
  readonly account: Hex
  /** Undefined if the request is no batch. */
  readonly calls: readonly BatchCall[] | undefined
  /** The gas that the simulation took. */
  readonly gas: bigint
}

/**
 * Requires a payment where one is due, and that it would arrive now. Returns the price of gas that is paid for;
 * undefined if the application pays. @throws RpcError
 */
export async function requireFee(paying: Paying, context: FeeContext): Promise<bigint | undefined> {
  const { network, rpc } = context
  if (paying.token === undefined) {
    if (network.sponsored) return undefined
    const accepted = [...network.feeTokens.keys()].join(', ')
    throw short(`payment: users pay here; expected {"type": "token", "address"} with one of ${accepted}.`)
  }
  const token = feeTokenOf(paying.token, network)
  if (paying.calls === undefined)
    throw new RpcError(
      'unsupportedPaymentToken',
      'payment: only the signed batch of an account (EIP-7702) can pay in a token.',
    )
  const payment = paymentIn(paying.account, paying.calls, network)
  if (payment === undefined || payment.token !== token)
    throw short(
      `data: the batch must begin by paying ${token.address} to ${network.feeCollector}: by transfer, or by transferFrom after permit, transferWithAuthorization or Permit2's permitTransferFrom.`,
    )
  const { price, gasPrice } = await priceFor(token, paying.context, context)
  const { marginPercent } = network
  const needed = feeFor(paying.gas * gasPrice, token, { price, marginPercent })
  if (payment.amount < needed)
    throw short(`data: the batch pays ${payment.amount} of ${token.address}; it costs ${needed}.`, needed)
  await requireArrival(paying.account, payment, { network, rpc })
  return gasPrice
}

function short(message: string, needed?: bigint): RpcError {
  return new RpcError('insufficientPayment', message, needed && { requiredPaymentAmount: String(needed) })
}

/** The price of the quote that a request names, or the one now. */
function priceFor(token: FeeToken, text: string | undefined, context: FeeContext) {
  return text === undefined ? readNow(token, context) : findQuote(nameOf(token, context), text, context.world)
}

/** The calls that pay come first, so what they do alone now is what they do in the batch. */
async function requireArrival(
  account: Hex,
  { token, amount, payer, calls }: TokenPayment,
  { network, rpc }: Pick<FeeContext, 'network' | 'rpc'>,
): Promise<void> {
  const { feeCollector: receiver } = network
  const arrives = await readArrival({ account, token: token.address, receiver, calls }, rpc).catch(
    (error: unknown) => {
      throw error instanceof NodeError ? new Unavailable(error.message) : error
    },
  )
  if (arrives === undefined)
    throw short(`data: ${account} cannot pay ${amount} of ${token.address} of ${payer} now.`)
  if (arrives < amount)
    throw short(
      `data: of ${amount} of ${token.address}, only ${arrives} would arrive: the token keeps the rest.`,
    )
}

/** Names the balance that pays, so that batches that wait do not pay with the same tokens. */
export function paymentOf(
  account: Hex,
  { calls, token }: Pick<Paying, 'calls' | 'token'>,
  { network, rpc }: Pick<FeeContext, 'network' | 'rpc'>,
): Payment | undefined {
  const paid = calls === undefined || token === undefined ? undefined : paymentIn(account, calls, network)
  if (paid === undefined) return undefined
  const { address } = paid.token
  const data = encodeFunctionData({ abi: BALANCE, functionName: 'balanceOf', args: [paid.payer] })
  return {
    payer: paid.payer,
    unit: address,
    amount: paid.amount,
    slots: paid.authorization === undefined ? [] : [paid.authorization],
    funds: async () => hexToBigInt(await rpc<Hex>('eth_call', [{ to: address, data }, 'latest'])),
  }
}

/** `Transfer(address indexed from, address indexed to, uint256 value)` */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** True if a batch pays a fee that the receipt of its block does not have. Pure. */
export function isShort(
  { account, calls }: { readonly account: Hex; readonly calls: readonly BatchCall[] },
  { logs }: Pick<Receipt, 'logs'>,
  network: Pick<NetworkSettings, 'feeTokens' | 'feeCollector'>,
): boolean {
  const payment = paymentIn(account, calls, network)
  if (payment === undefined) return false
  const paid = logs.filter(isRecord).some((log) => {
    const [topic, from, to] = Array.isArray(log.topics) ? (log.topics as readonly Hex[]) : []
    return (
      String(log.address).toLowerCase() === payment.token.address &&
      topic === TRANSFER &&
      addressIn(from) === payment.payer &&
      addressIn(to) === network.feeCollector &&
      BigInt(log.data as Hex) >= payment.amount
    )
  })
  return !paid
}

function addressIn(topic: Hex | undefined): string {
  return `0x${topic?.slice(26).toLowerCase()}`
}
