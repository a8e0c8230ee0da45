import { encodeFunctionData, type Hex, hexToBigInt, hexToNumber, size, slice } from 'viem'
import type { Rpc } from '../../../shared/host.ts'
import type { NetworkSettings } from '../../config.ts'
import { type Refusal, reading } from '../../refusal.ts'
import { TOKEN_ABI, WALLET_ABI } from '../abi.ts'
import { type Call, type EvmPayment, isNonceUsed, isSame, nonceCall, PERMIT2 } from '../payment.ts'
import { type CallResult, simulateCalls } from '../simulate-calls.ts'
import { estimateGas, SIGNATURE_IS_VALID, settlementCall } from '../verify.ts'
import { CHANNELS_ABI } from './abi.ts'
import { CHANNELS, refusal } from './channel.ts'
import { type Claim, callOf, type Operation, type Vouched } from './operation.ts'

/** A channel as the chain keeps it. */
export interface ChannelState {
  /** What was deposited, without what was withdrawn and refunded. */
  readonly balance: bigint
  /** What the receiver has claimed of it. */
  readonly claimed: bigint
  /** When the payer asked to withdraw, in seconds since 1970; 0 if he did not. */
  readonly withdrawRequestedAt: number
  /** The nonce of the next refund. */
  readonly refundNonce: bigint
}

/** The calls that read a channel. */
export function stateCalls(channelId: Hex): Call[] {
  return (['channels', 'pendingWithdrawals', 'refundNonce'] as const).map((functionName) => ({
    to: CHANNELS,
    data: encodeFunctionData({ abi: CHANNELS_ABI, functionName, args: [channelId] }),
  }))
}

/** Reads their answers; undefined if the contract is not there. */
export function stateIn(results: readonly (CallResult | undefined)[]): ChannelState | undefined {
  const [channel, withdrawal, nonce] = results.map(wordsIn)
  const [balance, claimed] = channel ?? []
  const [, requestedAt] = withdrawal ?? []
  const [refundNonce] = nonce ?? []
  if (balance === undefined || claimed === undefined) return undefined
  if (requestedAt === undefined || refundNonce === undefined) return undefined
  return { balance, claimed, withdrawRequestedAt: Number(requestedAt), refundNonce }
}

function wordsIn(result: CallResult | undefined): readonly bigint[] {
  if (result?.ok !== true) return []
  return Array.from({ length: Math.floor(size(result.data) / 32) }, (_, index) =>
    hexToBigInt(slice(result.data, index * 32, (index + 1) * 32)),
  )
}

/** The channel as x402 tells it. */
export function snapshotOf(
  channelId: Hex,
  { balance, claimed, withdrawRequestedAt, refundNonce }: ChannelState,
) {
  return {
    channelId,
    balance: balance.toString(),
    totalClaimed: claimed.toString(),
    withdrawRequestedAt,
    refundNonce: refundNonce.toString(),
  }
}

/** What decides about operations besides the chain. */
export interface Bounds {
  readonly relayer: Hex
  readonly network: Pick<NetworkSettings, 'maxGas' | 'walletFactories'>
}

/** An operation that can be made, or a voucher that counts. */
export interface Judged {
  /** What is sent, and the gas that it needs. */
  readonly call: Call
  readonly gas: bigint
  /** What the payer has of the token; undefined where it does not count. */
  readonly funds: bigint | undefined
  /** The number of the block as of which the chain was read. */
  readonly block: number
  /** True if a contract of the payer is asked in the block. */
  readonly asksContract: boolean
  /** The channel before it; undefined where there is not one. */
  readonly channel: ChannelState | undefined
}

/** Reads the chain and decides about an operation. @throws Refusal if it cannot be made */
export function judgeOperation(operation: Operation, rpc: Rpc, bounds: Bounds): Promise<Judged> {
  return reading(payerOf(operation), () => {
    switch (operation.kind) {
      case 'deposit':
        return judgeDeposit(operation, rpc, bounds)
      case 'voucher':
        return judgeVoucher(operation, rpc, bounds)
      case 'claim':
        return judgeClaim(operation, rpc, bounds)
      case 'settle':
        return judgeSettle(operation, rpc, bounds)
      case 'refund':
        return judgeRefund(operation, rpc, bounds)
    }
  })
}

/** Who pays, or on whose behalf something is done: it counts as his. */
export function payerOf(operation: Operation): Hex {
  switch (operation.kind) {
    case 'deposit':
    case 'voucher':
      return operation.vouched.channel.payer
    case 'claim':
      return operation.authorizer
    case 'settle':
      return operation.receiver
    case 'refund':
      return operation.channel.receiverAuthorizer
  }
}

type Of<Kind extends Operation['kind']> = Extract<Operation, { readonly kind: Kind }>

/** A deposit as the payment to its collector that it is. */
export function paymentOf({ vouched: { channel }, deposit, data }: Of<'deposit'>): EvmPayment {
  const { payer, token: asset } = channel
  const call = callOf({ data })
  return { ...deposit, payer, payee: deposit.collector, asset, move: call, call, approval: undefined }
}

async function judgeDeposit(
  operation: Of<'deposit'>,
  rpc: Rpc,
  { relayer, network }: Bounds,
): Promise<Judged> {
  const { vouched, deposit } = operation
  const { channel, channelId } = vouched
  const { payer, token } = channel
  const payment = paymentOf(operation)
  const refuse = (reason: string, message: string) => refusal(reason, message, payer)
  const readCode = rpc<Hex>('eth_getCode', [payer, 'latest'])
  const readBlock = rpc<Hex>('eth_blockNumber', [])
  const creation = deposit.creation && (await readCode).length <= 2 ? deposit.creation : undefined
  const call = settlementCall(payment, creation !== undefined)
  const balances = [balanceCall(token, payer), balanceCall(token, CHANNELS)]
  const state = nonceCall(payment)
  const [block, code, results, gas] = await Promise.all([
    readBlock,
    readCode,
    simulateCalls(rpc, relayer, [
      creation ?? state,
      state,
      allowanceCall(token, payer),
      signatureCall(payer, vouched.hash, vouched.signature),
      signatureCall(payer, deposit.hash, deposit.signature),
      ...stateCalls(channelId),
      ...balances,
      payment.call,
      ...stateCalls(channelId),
      ...balances,
    ]),
    estimateGas(call, rpc, relayer),
  ])
  const [, used, allowed, voucherAccepted, depositAccepted, ...rest] = results
  const [before, after] = [stateIn(rest.slice(0, 3)), stateIn(rest.slice(6, 9))]
  const [payerBefore, heldBefore, payerAfter, heldAfter] = [3, 4, 9, 10].map((at) => wordsIn(rest[at])[0])
  if (creation && !network.walletFactories.has(creation.to.toLowerCase()))
    throw refuse('eip6492_factory_not_allowed', `The factory ${creation.to} may not create wallets here.`)
  if (!vouched.signedByKey && !accepts(voucherAccepted))
    throw refuse('voucher_signature', 'The voucher is not signed by the payer.')
  if (!deposit.signedByKey && !accepts(depositAccepted))
    throw refuse(
      deposit.method === 'eip3009' ? 'receive_authorization_signature' : 'permit2_invalid_signature',
      'The deposit is not signed by the payer.',
    )
  if (isNonceUsed(payment, wordsIn(used)[0]) === true)
    throw refuse(NONCE_USED, 'The nonce of the deposit was used before.')
  if (before === undefined || payerBefore === undefined || heldBefore === undefined)
    throw refuse('rpc_read_failed', 'The channel or the token cannot be read.')
  if (payerBefore < deposit.amount)
    throw refuse('insufficient_balance', `The payer has ${payerBefore}, and ${deposit.amount} are needed.`)
  const allowance = deposit.method === 'permit2' ? (wordsIn(allowed)[0] ?? 0n) : undefined
  const isSimulated = rest[5]?.ok === true
  if (allowance !== undefined && allowance < deposit.amount && !(deposit.bringsApproval && isSimulated))
    throw refuse('permit2_allowance_required', `The payer allows Permit2 to spend ${allowance}.`)
  checkVoucher(vouched, { ...before, balance: before.balance + deposit.amount }, { isRefund: false })
  const failed = (message: string) => refuse('deposit_simulation_failed', message)
  if (!isSimulated || !after || payerAfter === undefined || heldAfter === undefined)
    throw failed('The simulated deposit reverts.')
  const moved = [payerBefore - payerAfter, heldAfter - heldBefore, after.balance - before.balance]
  if (moved.some((each) => each !== deposit.amount))
    throw failed(`The payer would lose ${moved[0]}, and the channel get ${moved[2]}, not ${deposit.amount}.`)
  const funds =
    allowance !== undefined && !deposit.bringsApproval && allowance < payerBefore ? allowance : payerBefore
  return {
    call,
    gas: checkGas(gas, network, failed),
    funds,
    block: hexToNumber(block),
    asksContract: code.length > 2 || !deposit.signedByKey,
    channel: before,
  }
}

/** The reason for a deposit whose nonce was used: someone else may have sent it. */
export const NONCE_USED = 'deposit_simulation_failed'

/** @throws Refusal if a voucher does not count for what the channel has */
function checkVoucher(
  { channel: { payer }, voucher: { most } }: Vouched,
  { balance, claimed }: ChannelState,
  { isRefund }: { readonly isRefund: boolean },
): void {
  if (balance === 0n) throw refusal('channel_not_found', 'The channel has nothing.', payer)
  if (most > balance)
    throw refusal(
      'cumulative_exceeds_balance',
      `The voucher is for ${most}, and the channel has ${balance}.`,
      payer,
    )
  if (isRefund ? most < claimed : most <= claimed)
    throw refusal(
      'cumulative_below_claimed',
      `The voucher is for ${most}, and ${claimed} are claimed.`,
      payer,
    )
}

async function judgeVoucher(
  { vouched, isRefund }: Of<'voucher'>,
  rpc: Rpc,
  { relayer }: Bounds,
): Promise<Judged> {
  const { channel, channelId, hash, signature, signedByKey } = vouched
  const [block, [accepted, ...state]] = await Promise.all([
    rpc<Hex>('eth_blockNumber', []),
    simulateCalls(rpc, relayer, [signatureCall(channel.payer, hash, signature), ...stateCalls(channelId)]),
  ])
  if (!signedByKey && !accepts(accepted))
    throw refusal('voucher_signature', 'The voucher is not signed by the payer.', channel.payer)
  const found = stateIn(state)
  if (found === undefined) throw refusal('rpc_read_failed', 'The channel cannot be read.', channel.payer)
  checkVoucher(vouched, found, { isRefund })
  const nothing = {
    call: { to: CHANNELS, data: '0x' },
    gas: 0n,
    funds: undefined,
    asksContract: false,
  } as const
  return { ...nothing, block: hexToNumber(block), channel: found }
}

async function judgeClaim(operation: Of<'claim'>, rpc: Rpc, { relayer, network }: Bounds): Promise<Judged> {
  const { claims, authorizer } = operation
  const failed = (message: string) => refusal('claim_simulation_failed', message, authorizer)
  const { block, gas, before, after, isSimulated } = await around(operation, claims.map(claimCall), {
    rpc,
    relayer,
  })
  if (!isSimulated) throw failed('The simulated claim reverts.')
  checkClaimed(claims, after, failed)
  if (claims.every(({ claimed }, index) => claimed <= (claimedIn(before[index]) ?? 0n)))
    throw refusal('cumulative_below_claimed', 'claims: all of it is claimed already.', authorizer)
  return {
    call: callOf(operation),
    gas: checkGas(gas, network, failed, 'Send fewer claims at a time.'),
    funds: undefined,
    block,
    // What a payer withdraws meanwhile cannot be claimed, and both may be one.
    asksContract: true,
    channel: undefined,
  }
}

/** The call that reads what was claimed of a channel. */
export function claimCall({ channelId }: Claim): Call {
  return {
    to: CHANNELS,
    data: encodeFunctionData({ abi: CHANNELS_ABI, functionName: 'channels', args: [channelId] }),
  }
}

/** Reads its answer; undefined if the contract is not there. */
export function claimedIn(result: CallResult | undefined): bigint | undefined {
  return wordsIn(result)[1]
}

/** @throws Refusal if a channel would not have given what is claimed of it */
function checkClaimed(
  claims: readonly Claim[],
  after: readonly (CallResult | undefined)[],
  failed: (message: string) => Refusal,
): void {
  for (const [index, { channelId, claimed }] of claims.entries()) {
    const found = claimedIn(after[index])
    if (found === undefined || found < claimed)
      throw failed(`Of the channel ${channelId}, ${found ?? 'nothing'} would be claimed.`)
  }
}

interface Around {
  readonly block: number
  readonly gas: bigint | { readonly revert: string }
  readonly before: readonly CallResult[]
  readonly after: readonly CallResult[]
  readonly isSimulated: boolean
}

/** Makes calls that read, before and after a simulated operation. */
async function around(
  operation: { readonly data: Hex },
  reads: readonly Call[],
  { rpc, relayer }: { readonly rpc: Rpc; readonly relayer: Hex },
): Promise<Around> {
  const call = callOf(operation)
  const [block, results, gas] = await Promise.all([
    rpc<Hex>('eth_blockNumber', []),
    simulateCalls(rpc, relayer, [...reads, call, ...reads]),
    estimateGas(call, rpc, relayer),
  ])
  return {
    block: hexToNumber(block),
    gas,
    before: results.slice(0, reads.length),
    after: results.slice(reads.length + 1),
    isSimulated: results[reads.length]?.ok === true,
  }
}

/** The call that reads what a receiver has claimed in a token, and got of it. */
export function receiverCall(receiver: Hex, token: Hex): Call {
  return {
    to: CHANNELS,
    data: encodeFunctionData({ abi: CHANNELS_ABI, functionName: 'receivers', args: [receiver, token] }),
  }
}

async function judgeSettle(operation: Of<'settle'>, rpc: Rpc, { relayer, network }: Bounds): Promise<Judged> {
  const { receiver, token } = operation
  const call = callOf(operation)
  const failed = (message: string) => refusal('settle_simulation_failed', message, receiver)
  const [block, results, gas] = await Promise.all([
    rpc<Hex>('eth_blockNumber', []),
    simulateCalls(rpc, relayer, [
      receiverCall(receiver, token),
      balanceCall(token, receiver),
      call,
      balanceCall(token, receiver),
    ]),
    estimateGas(call, rpc, relayer),
  ])
  const [[claimed, settled] = [], [before] = [], , [after] = []] = results.map(wordsIn)
  if (claimed === undefined || settled === undefined)
    throw refusal('rpc_read_failed', 'The receiver cannot be read.', receiver)
  if (claimed <= settled) throw refusal('nothing_to_settle', 'All that is claimed is settled.', receiver)
  if (results[2]?.ok !== true || before === undefined || after === undefined)
    throw failed('The simulated settlement reverts.')
  if (after - before !== claimed - settled)
    throw failed(`The receiver would get ${after - before}, not ${claimed - settled}.`)
  return {
    call,
    gas: checkGas(gas, network, failed),
    funds: undefined,
    block: hexToNumber(block),
    asksContract: false,
    channel: undefined,
  }
}

async function judgeRefund(operation: Of<'refund'>, rpc: Rpc, { relayer, network }: Bounds): Promise<Judged> {
  const { channel, channelId, nonce, claims } = operation
  const refuse = (reason: string, message: string) => refusal(reason, message, channel.receiverAuthorizer)
  const failed = (message: string) => refuse('refund_simulation_failed', message)
  const reads = [...stateCalls(channelId), ...claims.map(claimCall)]
  const { block, gas, before, after, isSimulated } = await around(operation, reads, { rpc, relayer })
  const [found, left] = [stateIn(before.slice(0, 3)), stateIn(after.slice(0, 3))]
  if (found === undefined) throw refuse('rpc_read_failed', 'The channel cannot be read.')
  if (found.refundNonce !== nonce)
    throw failed(`refundNonce: the next refund of the channel has ${found.refundNonce}, not ${nonce}.`)
  let { claimed } = found
  for (const each of claims) if (each.claimed > claimed) claimed = each.claimed
  if (found.balance <= claimed) throw refuse('refund_no_balance', 'The channel has nothing to give back.')
  if (!isSimulated || left === undefined) throw failed('The simulated refund reverts.')
  checkClaimed(claims, after.slice(3), failed)
  const expected = refundable(operation, { balance: found.balance, claimed })
  if (found.balance - left.balance !== expected || left.refundNonce !== nonce + 1n)
    throw failed(`The payer would get ${found.balance - left.balance}, not ${expected}.`)
  return {
    call: callOf(operation),
    gas: checkGas(gas, network, failed),
    funds: undefined,
    block,
    asksContract: true,
    channel: found,
  }
}

/** The contract gives back at most what is left. */
function refundable(
  { amount }: Of<'refund'>,
  { balance, claimed }: Pick<ChannelState, 'balance' | 'claimed'>,
): bigint {
  const left = balance - claimed
  return amount < left ? amount : left
}

function checkGas(
  gas: bigint | { readonly revert: string },
  { maxGas }: Pick<NetworkSettings, 'maxGas'>,
  failed: (message: string) => Refusal,
  advice = '',
): bigint {
  if (typeof gas !== 'bigint') throw failed(`It reverts: ${gas.revert.slice(0, 200)}`)
  if (gas > maxGas) throw failed(`It needs ${gas} gas; at most ${maxGas} are paid for. ${advice}`.trim())
  return gas
}

function balanceCall(token: Hex, account: Hex): Call {
  return {
    to: token,
    data: encodeFunctionData({ abi: TOKEN_ABI, functionName: 'balanceOf', args: [account] }),
  }
}

function allowanceCall(token: Hex, owner: Hex): Call {
  const args = [owner, PERMIT2] as const
  return { to: token, data: encodeFunctionData({ abi: TOKEN_ABI, functionName: 'allowance', args }) }
}

function signatureCall(wallet: Hex, hash: Hex, signature: Hex): Call {
  const args = [hash, signature] as const
  return { to: wallet, data: encodeFunctionData({ abi: WALLET_ABI, functionName: 'isValidSignature', args }) }
}

function accepts(result: CallResult | undefined): boolean {
  return result?.ok === true && isSame(result.data.slice(0, 10), SIGNATURE_IS_VALID)
}
