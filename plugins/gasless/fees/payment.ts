import { type Abi, decodeFunctionData, encodeFunctionData, type Hex, parseAbi } from 'viem'
import type { BatchCall } from '../accounts/account.ts'
import type { NetworkSettings } from '../networks.ts'
import type { FeeToken } from './tokens.ts'

/** Permit2, at the same address on all chains (https://github.com/Uniswap/permit2). */
export const PERMIT2 = '0x000000000022d473030f116ddee9f6b43ac78ba3'

/** What the first calls of a batch pay to the fee collector. */
export interface TokenPayment {
  readonly token: FeeToken
  readonly amount: bigint
  /** Whose tokens they are: those of the account, or of another one that has signed for it. In lower case. */
  readonly payer: Hex
  /** The calls that pay, from the first one of the batch, so that no other call can take the tokens before. */
  readonly calls: readonly BatchCall[]
  /** Names the authorization of EIP-3009, which only one request that waits may have; undefined without one. */
  readonly authorization: string | undefined
}

const TRANSFER = parseAbi(['function transfer(address to, uint256 value) returns (bool)'])
const TRANSFER_FROM = parseAbi([
  'function transferFrom(address from, address to, uint256 value) returns (bool)',
])

/** EIP-2612 */
const PERMIT = parseAbi([
  'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
])

/** EIP-3009, with the signature in parts, or in one piece as contracts sign. */
const AUTHORIZED = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
])

const SIGNATURE_TRANSFER = parseAbi([
  'struct TokenPermissions { address token; uint256 amount; }',
  'struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }',
  'struct TransferDetails { address to; uint256 requestedAmount; }',
  'function permitTransferFrom(PermitTransferFrom permit, TransferDetails details, address owner, bytes signature)',
])

type Collecting = Pick<NetworkSettings, 'feeTokens' | 'feeCollector'>

/** Reads the payment of a batch to the fee collector; undefined if its first calls are none. Pure. */
export function paymentIn(
  account: Hex,
  calls: readonly BatchCall[],
  network: Collecting,
): TokenPayment | undefined {
  const [first, second] = calls
  if (first === undefined || first.value !== 0n) return undefined
  if (first.to.toLowerCase() === PERMIT2) return bySignatureTransfer(first, network)
  const token = network.feeTokens.get(lower(first.to))
  if (token === undefined) return undefined
  return (
    byTransfer(account, { call: first, token }, network) ??
    byAuthorization({ call: first, token }, network) ??
    byTransferFrom({ calls: [first], token }, network) ??
    (second && permits(account, first)
      ? byTransferFrom({ calls: [first, second], token }, network)
      : undefined)
  )
}

interface Paid {
  readonly call: BatchCall
  readonly token: FeeToken
}

function byTransfer(
  account: Hex,
  { call, token }: Paid,
  { feeCollector }: Collecting,
): TokenPayment | undefined {
  const [to, amount] = argumentsOf<[Hex, bigint]>(TRANSFER, call.data) ?? []
  if (amount === undefined || lower(to) !== feeCollector) return undefined
  return { token, amount, payer: account, calls: [call], authorization: undefined }
}

function byAuthorization({ call, token }: Paid, { feeCollector }: Collecting): TokenPayment | undefined {
  const [from, to, amount, , , nonce] =
    argumentsOf<[Hex, Hex, bigint, bigint, bigint, Hex]>(AUTHORIZED, call.data) ?? []
  if (from === undefined || amount === undefined || lower(to) !== feeCollector) return undefined
  const payer = lower(from)
  return { token, amount, payer, calls: [call], authorization: `payment ${token.address} ${nonce}` }
}

/** The last of the calls is `transferFrom`, by an allowance that the account has, or gets by the one before. */
function byTransferFrom(
  { calls, token }: { readonly calls: readonly BatchCall[]; readonly token: FeeToken },
  { feeCollector }: Collecting,
): TokenPayment | undefined {
  const call = calls.at(-1)
  if (call === undefined || call.value !== 0n || lower(call.to) !== token.address) return undefined
  const [from, to, amount] = argumentsOf<[Hex, Hex, bigint]>(TRANSFER_FROM, call.data) ?? []
  if (from === undefined || amount === undefined || lower(to) !== feeCollector) return undefined
  return { token, amount, payer: lower(from), calls, authorization: undefined }
}

function permits(account: Hex, { data }: BatchCall): boolean {
  const [, spender] = argumentsOf<[Hex, Hex]>(PERMIT, data) ?? []
  return spender !== undefined && lower(spender) === account
}

/** What is signed for Permit2 names the account as the one that may use it. */
function bySignatureTransfer(
  call: BatchCall,
  { feeTokens, feeCollector }: Collecting,
): TokenPayment | undefined {
  const [permit, details, owner] = argumentsOf<[Permit, Details, Hex]>(SIGNATURE_TRANSFER, call.data) ?? []
  if (permit === undefined || details === undefined || owner === undefined) return undefined
  const token = feeTokens.get(lower(permit.permitted.token))
  if (token === undefined || lower(details.to) !== feeCollector) return undefined
  return {
    token,
    amount: details.requestedAmount,
    payer: lower(owner),
    calls: [call],
    authorization: undefined,
  }
}

interface Permit {
  readonly permitted: { readonly token: Hex }
}

interface Details {
  readonly to: Hex
  readonly requestedAmount: bigint
}

/** The arguments of a call in the one form that the ABI has; undefined for another function or form. */
function argumentsOf<Arguments>(abi: Abi, data: Hex): Arguments | undefined {
  try {
    const { functionName, args } = decodeFunctionData({ abi, data })
    const canonical = encodeFunctionData({ abi, functionName, args: args as readonly unknown[] })
    return canonical === data.toLowerCase() ? (args as Arguments) : undefined
  } catch {
    return undefined
  }
}

function lower(address: Hex | undefined = '0x'): Hex {
  return address.toLowerCase() as Hex
}
