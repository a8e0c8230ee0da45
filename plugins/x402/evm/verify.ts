import { decodeFunctionResult, encodeFunctionData, type Hex, hexToBigInt, hexToNumber } from 'viem'
import { NodeError, type Rpc } from '../../shared/host.ts'
import type { NetworkSettings } from '../config.ts'
import { Refusal, reading } from '../refusal.ts'
import { MULTICALL_ABI, TOKEN_ABI, WALLET_ABI } from './abi.ts'
import {
  type Call,
  type EvmPayment,
  isNonceUsed,
  isSame,
  nonceCall,
  PERMIT2,
  WINDOW_REASONS,
} from './payment.ts'
import { type CallResult, simulateCalls } from './simulate-calls.ts'

/** The answer of a contract that accepts a signature (ERC-1271). */
export const SIGNATURE_IS_VALID = '0x1626ba7e'

/** Multicall3, at the same address on nearly every chain. */
const MULTICALL = '0xcA11bde05977b3631167028862bE2a173976CA11'

/** What the chain says about a payment. */
export interface EvmReadings {
  /** The number of the newest block when it was read, or of an older one. */
  readonly block: number
  /** True if the payer's account is a contract, or delegates to one. */
  readonly payerHasCode: boolean
  /** True if the contract that pays accepts the signature. */
  readonly contractAccepts: boolean
  /** True if the nonce was used before; absent if the token has no such state. */
  readonly nonceUsed: boolean | undefined
  /** Permit2: what the payer allows it to spend. */
  readonly allowance: bigint | undefined
  /**
   * Of the payer and of the payee, before and after the simulated payment; absent if the token has no
   * balances.
   */
  readonly before: readonly [bigint, bigint] | undefined
  readonly after: readonly [bigint, bigint] | undefined
  /** True if the simulated payment did not revert. */
  readonly simulated: boolean
  /** The gas of the settlement as the relayer would send it, or why it would revert. */
  readonly gas: bigint | { readonly revert: string }
}

/** What is sent to settle a payment: directly, or together with the creation of the payer's wallet. */
export function settlementCall(payment: EvmPayment, createWallet: boolean): Call {
  if (!createWallet || !payment.creation) return payment.call
  const calls = [payment.creation, payment.call].map(({ to, data }) => ({
    target: to,
    allowFailure: false,
    callData: data,
  }))
  return {
    to: MULTICALL,
    data: encodeFunctionData({ abi: MULTICALL_ABI, functionName: 'aggregate3', args: [calls] }),
  }
}

/**
 * Reads what decides about a payment, from one state of the chain. `relayer` is the account that will send
 * it.
 */
export async function readEvmChain(payment: EvmPayment, rpc: Rpc, relayer: Hex): Promise<EvmReadings> {
  return reading(payment.payer, async () => {
    // First, so that it is not newer than the state from which the others are read.
    const readBlock = rpc<Hex>('eth_blockNumber', [])
    const readCode = rpc<Hex>('eth_getCode', [payment.payer, 'latest'])
    // Whether the wallet has to be created is asked first only if the payment says how. Otherwise all is one
    // request.
    const creation = payment.creation && (await readCode).length <= 2 ? payment.creation : undefined
    const [block, code, results, gas] = await Promise.all([
      readBlock,
      readCode,
      simulate(payment, creation, rpc, relayer),
      estimateGas(settlementCall(payment, creation !== undefined), rpc, relayer),
    ])
    return { block: hexToNumber(block), payerHasCode: code.length > 2, gas, ...results }
  })
}

async function simulate(payment: EvmPayment, creation: Call | undefined, rpc: Rpc, relayer: Hex) {
  const { method, payer, asset, hash, signature, call } = payment
  const state = nonceCall(payment)
  const balances = balanceCalls(payment)
  const results = await simulateCalls(rpc, relayer, [
    creation ?? state,
    state,
    {
      to: asset,
      data: encodeFunctionData({ abi: TOKEN_ABI, functionName: 'allowance', args: [payer, PERMIT2] }),
    },
    {
      to: payer,
      data: encodeFunctionData({
        abi: WALLET_ABI,
        functionName: 'isValidSignature',
        args: [hash, signature],
      }),
    },
    ...balances,
    call,
    ...balances,
  ])
  const [, used, allowance, accepts, ...moves] = results
  return {
    contractAccepts: accepts?.ok === true && isSame(accepts.data.slice(0, 10), SIGNATURE_IS_VALID),
    nonceUsed: isNonceUsed(payment, integerIn(used)),
    allowance: method === 'permit2' ? (integerIn(allowance) ?? 0n) : undefined,
    ...movesIn(moves),
  }
}

type Parties = Pick<EvmPayment, 'payer' | 'payee' | 'asset'>

/** The calls that read what the payer and the payee have. */
function balanceCalls({ payer, payee, asset }: Parties): readonly Call[] {
  return [payer, payee].map((account) => ({
    to: asset,
    data: encodeFunctionData({ abi: TOKEN_ABI, functionName: 'balanceOf', args: [account] }),
  }))
}

/** Simulates a call of the relayer between two readings of what payer and payee have. */
export async function simulateMove(parties: Parties, call: Call, rpc: Rpc, relayer: Hex): Promise<Moves> {
  const balances = balanceCalls(parties)
  return movesIn(await simulateCalls(rpc, relayer, [...balances, call, ...balances]))
}

/** What a simulated payment moves. */
export type Moves = Pick<EvmReadings, 'before' | 'after' | 'simulated'>

function movesIn([payerBefore, payeeBefore, moved, payerAfter, payeeAfter]: readonly CallResult[]): Moves {
  return {
    before: pair(payerBefore, payeeBefore),
    after: pair(payerAfter, payeeAfter),
    simulated: moved?.ok === true,
  }
}

function pair(
  one: CallResult | undefined,
  other: CallResult | undefined,
): readonly [bigint, bigint] | undefined {
  const [first, second] = [integerIn(one), integerIn(other)]
  return first === undefined || second === undefined ? undefined : [first, second]
}

function integerIn(result: CallResult | undefined): bigint | undefined {
  if (result?.ok !== true || result.data.length !== 66) return undefined
  return decodeFunctionResult({ abi: TOKEN_ABI, functionName: 'balanceOf', data: result.data })
}

/** Returns the gas of a call by the relayer, or why it would revert. */
export async function estimateGas(call: Call, rpc: Rpc, from: Hex): Promise<EvmReadings['gas']> {
  try {
    return hexToBigInt(await rpc<Hex>('eth_estimateGas', [{ ...call, from }]))
  } catch (error) {
    if (error instanceof NodeError) return { revert: error.message }
    throw error
  }
}

/**
 * Decides about a payment by what the chain says. Returns the gas that it needs. Throws {@link Refusal} if it
 * cannot be settled.
 */
export function judgeEvmPayment(
  payment: EvmPayment,
  readings: EvmReadings,
  { maxGas, walletFactories }: Pick<NetworkSettings, 'maxGas' | 'walletFactories'>,
): bigint {
  const { payer, amount, method } = payment
  const refuse = (reason: Refusal['reason'], message: string) => new Refusal(reason, message, payer)
  const before = judgePayer(payment, readings, { walletFactories })
  if (readings.allowance !== undefined && readings.allowance < amount) {
    const allowed = `The payer allows Permit2 to spend ${readings.allowance}`
    if (!payment.bringsApproval) throw refuse('permit2_allowance_required', `${allowed}.`)
    if (!readings.simulated)
      throw refuse(
        'permit2_allowance_required',
        `${allowed}, or the payment reverts for another reason: the permit that came with it did not help.`,
      )
  }
  return judgeMove(payment, { ...readings, before }, { reason: REASONS[method].simulation, maxGas })
}

/**
 * Decides about a payment by what its simulation moved. Returns the gas that it needs. Throws {@link Refusal}
 * with the reason if it moves anything but the amount from payer to payee, or costs too much.
 */
export function judgeMove(
  { payer, amount }: Pick<EvmPayment, 'payer' | 'amount'>,
  {
    before: [payerBefore, payeeBefore],
    after,
    simulated,
    gas,
  }: Pick<EvmReadings, 'after' | 'simulated' | 'gas'> & { readonly before: readonly [bigint, bigint] },
  { reason, maxGas }: { readonly reason: Refusal['reason']; readonly maxGas: bigint },
): bigint {
  const refuse = (message: string) => new Refusal(reason, message, payer)
  const why = typeof gas === 'bigint' ? '.' : `: ${gas.revert.slice(0, 200).replace(/\.?$/, '.')}`
  if (!simulated || !after) throw refuse(`The simulated payment reverts${why}`)
  const [payerAfter, payeeAfter] = after
  if (payerBefore - payerAfter !== amount || payeeAfter - payeeBefore !== amount) {
    const message = `The payer would lose ${payerBefore - payerAfter} and the payee get ${payeeAfter - payeeBefore}, not ${amount}.`
    throw refuse(message)
  }
  if (typeof gas !== 'bigint') throw refuse(`The settlement reverts${why}`)
  if (gas > maxGas) throw refuse(`The settlement needs ${gas} gas; at most ${maxGas} are paid for.`)
  return gas
}

/**
 * Decides whether the payer signed it, has not paid it before, and has as much. Returns what payer and payee
 * have. Throws {@link Refusal} otherwise.
 */
export function judgePayer(
  payment: EvmPayment,
  readings: EvmReadings,
  { walletFactories }: Pick<NetworkSettings, 'walletFactories'>,
): readonly [bigint, bigint] {
  const { payer, method } = payment
  const refuse = (reason: Refusal['reason'], message: string) => new Refusal(reason, message, payer)
  const names = REASONS[method]
  if (!payment.signedByKey) {
    const created = payment.creation && !readings.payerHasCode
    if (created && !walletFactories.has(payment.creation.to.toLowerCase()))
      throw refuse(
        'eip6492_factory_not_allowed',
        `The factory ${payment.creation.to} may not create wallets here.`,
      )
    if (!readings.contractAccepts) throw refuse(names.signature, 'The signature is not by the payer.')
  }
  if (readings.nonceUsed === true) throw refuse(names.nonce, 'The nonce of the payment was used before.')
  return judgeFunds(payment, readings)
}

/** Decides whether the payer has as much. Returns what payer and payee have. Throws {@link Refusal} if not. */
export function judgeFunds(
  { payer, amount }: Pick<EvmPayment, 'payer' | 'amount'>,
  { before }: Pick<EvmReadings, 'before'>,
): readonly [bigint, bigint] {
  const refuse = (reason: Refusal['reason'], message: string) => new Refusal(reason, message, payer)
  if (before === undefined)
    throw refuse('invalid_payment_requirements', 'paymentRequirements.asset: no token is at this address.')
  if (before[0] < amount)
    throw refuse('insufficient_funds', `The payer has ${before[0]}, and ${amount} are needed.`)
  return before
}

/**
 * Returns the gas limit of a settlement. A payee's first tokens and a longer proof of a wallet cost more in
 * the block than in the simulation; what costs more than half again, or more than the operator pays for, runs
 * out of gas.
 */
export function gasLimitFor(gas: bigint, { maxGas }: Pick<NetworkSettings, 'maxGas'>): bigint {
  const limit = (gas * 3n) / 2n
  return limit < maxGas ? limit : maxGas
}

/**
 * The reasons for which somebody else may have made the payment: its nonce was used, or it has expired, maybe
 * after that.
 */
export const MADE_ON_EVM: readonly Refusal['reason'][] = [
  ...Object.values(WINDOW_REASONS).map(({ late }) => late),
  'invalid_exact_evm_nonce_already_used',
  'permit2_invalid_nonce',
]

/** The reasons by the method of the payment, as the specification and its reference facilitator name them. */
const REASONS = {
  eip3009: {
    signature: 'invalid_exact_evm_payload_signature',
    nonce: 'invalid_exact_evm_nonce_already_used',
    simulation: 'invalid_exact_evm_transaction_simulation_failed',
  },
  permit2: {
    signature: 'invalid_permit2_signature',
    nonce: 'permit2_invalid_nonce',
    simulation: 'permit2_simulation_failed',
  },
} as const
