import { encodeFunctionData, type Hex, hexToBigInt, numberToHex, parseAbi } from 'viem'
import { isRecord, NodeError, type Rpc, Unavailable } from '../../shared/host.ts'
import { Refusal, reading } from '../refusal.ts'
import { TOKEN_ABI } from './abi.ts'
import { type EvmPayment, PERMIT2, type SignedApproval } from './payment.ts'

/** What the chain says about an approval that is signed and not sent. */
export interface ApprovalReadings {
  /** The payer's next nonce, in the newest block and with what waits. */
  readonly nonce: bigint
  readonly pendingNonce: bigint
  /** The payer's wei. */
  readonly balance: bigint
  /** True if the payer's account is a contract, or delegates to one. */
  readonly payerHasCode: boolean
  /** Wei for each gas: of the newest block, and what its producers get. */
  readonly baseFee: bigint
  readonly marketTip: bigint
  /** What a rollup charges besides gas, in wei. */
  readonly rollupFee: bigint
  /** The approval and the payment behind it, as they would be executed; undefined if no node tells. */
  readonly simulated: Simulated | undefined
}

interface Simulated {
  readonly approved: boolean
  readonly paid: boolean
  /** The gas of the settlement alone. */
  readonly gas: bigint
  /** Of the payer and of the payee, before and after. */
  readonly before: readonly [bigint, bigint]
  readonly after: readonly [bigint, bigint]
}

/** The contract of the OP stack that tells what a transaction costs besides gas. */
const ORACLE = '0x420000000000000000000000000000000000000F'
const ORACLE_ABI = parseAbi(['function getL1Fee(bytes data) view returns (uint256)'])

/** Reads all of it. `relayer` is the account that settles. @throws Refusal if nothing answers */
export function readApproval(
  payment: EvmPayment,
  approval: SignedApproval,
  { rpc, relayer, maxGas }: { readonly rpc: Rpc; readonly relayer: Hex; readonly maxGas: bigint },
): Promise<ApprovalReadings> {
  const { payer } = payment
  const number = async (method: string, params: readonly unknown[]) =>
    hexToBigInt(await rpc<Hex>(method, params))
  return reading(payer, async () => {
    const [nonce, pendingNonce, balance, code, block, marketTip, rollupFee, simulated] = await Promise.all([
      number('eth_getTransactionCount', [payer, 'latest']),
      number('eth_getTransactionCount', [payer, 'pending']),
      number('eth_getBalance', [payer, 'latest']),
      rpc<Hex>('eth_getCode', [payer, 'latest']),
      rpc<unknown>('eth_getBlockByNumber', ['latest', false]),
      number('eth_maxPriorityFeePerGas', []).catch(zeroIfRefused),
      readRollupFee(approval, rpc),
      simulate(payment, approval, { rpc, relayer, maxGas }),
    ])
    if (!isRecord(block) || typeof block.baseFeePerGas !== 'string')
      throw new Unavailable('No node tells the base fee.')
    const baseFee = hexToBigInt(block.baseFeePerGas as Hex)
    return {
      nonce,
      pendingNonce,
      balance,
      payerHasCode: code.length > 2,
      baseFee,
      marketTip,
      rollupFee,
      simulated,
    }
  })
}

function zeroIfRefused(error: unknown): bigint {
  if (error instanceof NodeError) return 0n
  throw error
}

/** The fee for the parent chain changes until the transaction is included, so half of it is added. */
async function readRollupFee({ raw }: SignedApproval, rpc: Rpc): Promise<bigint> {
  const data = encodeFunctionData({ abi: ORACLE_ABI, functionName: 'getL1Fee', args: [raw] })
  const told = await rpc<Hex>('eth_call', [{ to: ORACLE, data }, 'latest']).catch((error: unknown) => {
    // Most chains have no such contract, and some nodes call that an error.
    if (error instanceof NodeError) return '0x' as const
    throw error
  })
  return told.length === 66 ? (hexToBigInt(told) * 3n) / 2n : 0n
}

/** Executes the approval by its payer and the payment behind it by the relayer, as of the newest block. */
async function simulate(
  { payer, payee, asset, move }: EvmPayment,
  { data, gas }: SignedApproval,
  { rpc, relayer, maxGas }: { readonly rpc: Rpc; readonly relayer: Hex; readonly maxGas: bigint },
): Promise<Simulated | undefined> {
  const balanceOf = (account: Hex) => ({
    from: relayer,
    to: asset,
    data: encodeFunctionData({ abi: TOKEN_ABI, functionName: 'balanceOf', args: [account] }),
  })
  const balances = [balanceOf(payer), balanceOf(payee)]
  const calls = [
    { from: payer, to: asset, data, gas: numberToHex(gas) },
    ...balances,
    { from: relayer, to: move.to, data: move.data, gas: numberToHex(maxGas) },
    ...balances,
  ]
  const blocks = await rpc<unknown>('eth_simulateV1', [{ blockStateCalls: [{ calls }] }, 'latest'])
  const results = Array.isArray(blocks) && isRecord(blocks[0]) ? blocks[0].calls : undefined
  if (!Array.isArray(results) || results.length !== calls.length) return undefined
  const [approve, payerBefore, payeeBefore, settle, payerAfter, payeeAfter] = results.map(readResult)
  if (!approve || !settle) return undefined
  return {
    approved: approve.ok && (approve.data === '0x' || approve.word === 1n),
    paid: settle.ok,
    gas: settle.gas,
    before: [payerBefore?.word ?? 0n, payeeBefore?.word ?? 0n],
    after: [payerAfter?.word ?? 0n, payeeAfter?.word ?? 0n],
  }
}

function readResult(result: unknown) {
  if (!isRecord(result) || typeof result.gasUsed !== 'string') return undefined
  const data = typeof result.returnData === 'string' ? (result.returnData as Hex) : '0x'
  return {
    ok: result.status === '0x1',
    data,
    word: data.length === 66 ? hexToBigInt(data) : undefined,
    gas: hexToBigInt(result.gasUsed as Hex),
  }
}

/** The most gas of an approval; the clients of npm sign 70000. */
const MAX_APPROVAL_GAS = 100_000n

/** How many times the price of the market an approval may pay, so that little of what it is given stays. */
const MAX_PRICES = 4n

/** A full block raises the base fee by an eighth. */
const GROWTH = { times: 9n, of: 8n } as const

/**
 * Decides about an approval that is signed and not sent. Returns the wei that the payer lacks for it. @throws
 * Refusal if it would not be included, or the payment behind it would fail
 */
export function judgeApproval(
  { payer, amount }: EvmPayment,
  { nonce, gas, maxFee }: SignedApproval,
  readings: ApprovalReadings,
  maxGas: bigint,
): bigint {
  const refuse = (reason: Refusal['reason'], message: string) =>
    new Refusal(reason, `The approval that came with the payment ${message}`, payer)
  const { baseFee, marketTip, balance, simulated } = readings
  if (nonce !== readings.nonce)
    throw refuse(
      'erc20_approval_tx_wrong_nonce',
      `has the nonce ${nonce}; the next one is ${readings.nonce}.`,
    )
  if (gas > MAX_APPROVAL_GAS)
    throw refuse(
      'erc20_approval_tx_gas_out_of_range',
      `has ${gas} gas; at most ${MAX_APPROVAL_GAS} are paid for.`,
    )
  const least = (baseFee * GROWTH.times) / GROWTH.of
  const most = (baseFee + marketTip) * MAX_PRICES
  if (maxFee < least || maxFee > most)
    throw refuse(
      'erc20_approval_tx_fee_out_of_range',
      `pays ${maxFee} for each gas; expected ${least} to ${most}.`,
    )
  if (simulated === undefined) throw refuse('unexpected_verify_error', 'cannot be simulated: no node tells.')
  if (!simulated.approved) throw refuse('erc20_approval_tx_failed', 'fails in the simulation.')
  const [payerBefore, payeeBefore] = simulated.before
  const [payerAfter, payeeAfter] = simulated.after
  if (!simulated.paid || payerBefore - payerAfter !== amount || payeeAfter - payeeBefore !== amount)
    throw refuse('permit2_simulation_failed', 'does not help: the payment behind it does not arrive.')
  if (simulated.gas > maxGas)
    throw refuse(
      'permit2_simulation_failed',
      `leads to a settlement of ${simulated.gas} gas; at most ${maxGas} are paid for.`,
    )
  const needed = gas * maxFee + readings.rollupFee
  if (balance >= needed) return 0n
  if (readings.payerHasCode)
    throw refuse('erc20_approval_tx_failed', 'is of an account with code, which can spend what it is given.')
  // Another transaction of the payer would take its place, and what it is given for it.
  if (readings.pendingNonce !== readings.nonce)
    throw refuse(
      'erc20_approval_tx_wrong_nonce',
      `has the nonce ${nonce}, and another transaction of the payer waits.`,
    )
  return needed - balance
}

/** What became of an approval: Permit2 may spend as much, not yet, or its nonce is used and it may not. */
export type ApprovalState = 'approved' | 'waiting' | 'lost'

/** Reads what became of it. What no node tells is `waiting`. */
export async function readApprovalState(
  { payer, asset }: EvmPayment,
  { nonce, hash }: SignedApproval,
  { rpc, needed }: { readonly rpc: Rpc; readonly needed: bigint },
): Promise<ApprovalState> {
  try {
    const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'allowance', args: [payer, PERMIT2] })
    const [allowance, next, receipt] = await Promise.all([
      rpc<Hex>('eth_call', [{ to: asset, data }, 'latest']),
      rpc<Hex>('eth_getTransactionCount', [payer, 'latest']),
      rpc<unknown>('eth_getTransactionReceipt', [hash]),
    ])
    if (hexToBigInt(allowance) >= needed) return 'approved'
    if (isRecord(receipt) && receipt.status === '0x0') return 'lost'
    return hexToBigInt(next) > nonce && !isRecord(receipt) ? 'lost' : 'waiting'
  } catch (error) {
    if (error instanceof NodeError || error instanceof Unavailable) return 'waiting'
    throw error
  }
}
