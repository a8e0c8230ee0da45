import { type Hex, keccak256, parseAbi, parseTransaction, recoverTransactionAddress } from 'viem'
import { decodeFunctionData, encodeFunctionData } from 'viem/utils'
import { isRecord } from '../../shared/host.ts'
import { Refusal } from '../refusal.ts'
import { ERC20_SPONSORING } from '../wire.ts'
import { isSame, PERMIT2, type SignedApproval } from './payment.ts'

const APPROVE_ABI = parseAbi(['function approve(address spender, uint256 value) returns (bool)'])

/** The selector of `approve(address,uint256)`. */
const APPROVE = '0x095ea7b3'

const FIELDS = ['from', 'asset', 'spender', 'amount', 'signedTransaction', 'version'] as const

const ADDRESS = /^0x[0-9a-fA-F]{40}$/

/** The shape of each field, from the extension's schema; an approval is shorter than 300 bytes. */
const SHAPES: Readonly<Record<(typeof FIELDS)[number], RegExp>> = {
  from: ADDRESS,
  asset: ADDRESS,
  spender: ADDRESS,
  amount: /^\d{1,78}$/,
  signedTransaction: /^0x([0-9a-fA-F]{2}){1,300}$/,
  version: /^\d{1,8}(\.\d{1,8}){0,4}$/,
}

interface Expected {
  readonly payer: Hex
  readonly asset: Hex
  /** The most that the payment moves. */
  readonly value: bigint
  readonly chainId: number
}

/**
 * Reads the approval that came with a payment as a signed transaction; undefined if none did. It may contain
 * nothing but `approve` of Permit2 by the payer, in the token of the payment. What the chain has to say about
 * it is read later. @throws Refusal
 */
export async function readSignedApproval(
  extensions: Readonly<Record<string, unknown>>,
  { payer, asset, value, chainId }: Expected,
): Promise<SignedApproval | undefined> {
  const extension = extensions[ERC20_SPONSORING]
  const info = isRecord(extension) && isRecord(extension.info) ? extension.info : {}
  // Clients that bring none may repeat what the resource server declared.
  if (info.signedTransaction === undefined) return undefined
  const refuse = (reason: Refusal['reason'], message: string) =>
    new Refusal(reason, `paymentPayload.extensions.${ERC20_SPONSORING}.info.${message}`, payer)
  const texts = readTexts(info, refuse)
  if (!isSame(texts.from, payer)) throw refuse('erc20_approval_from_mismatch', 'from: is not the payer.')
  if (!isSame(texts.asset, asset)) throw refuse('erc20_approval_asset_mismatch', 'asset: is another token.')
  if (!isSame(texts.spender, PERMIT2))
    throw refuse('erc20_approval_spender_not_permit2', 'spender: is not Permit2.')
  const raw = texts.signedTransaction.toLowerCase() as Hex
  const refuseTransaction = (what: string, message: string) =>
    refuse(`erc20_approval_tx_${what}`, `signedTransaction: ${message}`)
  const { to, data, nonce, gas, maxFee } = readTransaction(raw, chainId, refuseTransaction)
  if (!isSame(to, asset)) throw refuseTransaction('wrong_target', 'calls another contract than the token.')
  const amount = readAmount(data, refuseTransaction)
  if (amount !== BigInt(texts.amount))
    throw refuse('erc20_approval_tx_invalid_calldata', `amount: the transaction approves ${amount}.`)
  if (amount < value)
    throw refuse('permit2_allowance_required', `amount: ${amount} is less than the payment’s ${value}.`)
  if (!isSame(await signerOf(raw, refuseTransaction), payer))
    throw refuseTransaction('signer_mismatch', 'is not signed by the payer.')
  return { raw, hash: keccak256(raw), nonce, gas, maxFee, data }
}

function readTexts(
  info: Readonly<Record<string, unknown>>,
  refuse: (reason: Refusal['reason'], message: string) => Refusal,
) {
  const texts = {} as Record<(typeof FIELDS)[number], string>
  for (const name of FIELDS) {
    const text = info[name]
    if (typeof text !== 'string' || !SHAPES[name].test(text))
      throw refuse(
        'invalid_erc20_approval_extension_format',
        `${name}: expected a text like ${SHAPES[name]}.`,
      )
    texts[name] = text
  }
  return texts
}

type RefuseTransaction = (what: string, message: string) => Refusal

/** Reads the fields of a transaction that nothing but an approval needs: no other type, value or list. */
function readTransaction(raw: Hex, chainId: number, refuse: RefuseTransaction) {
  const transaction = parsed(raw, refuse)
  if (transaction.type !== 'eip1559')
    throw refuse('parse_failed', `expected a transaction of the type eip1559, not ${transaction.type}.`)
  const { to, data = '0x', value = 0n, accessList = [], gas = 0n, nonce = 0 } = transaction
  const { maxFeePerGas: maxFee = 0n, maxPriorityFeePerGas: tip = 0n } = transaction
  if (transaction.chainId !== chainId)
    throw refuse('wrong_chain', `is for the chain ${transaction.chainId}, not for ${chainId}.`)
  if (value !== 0n || accessList.length > 0)
    throw refuse('invalid_calldata', 'expected no value and no access list.')
  if (tip > maxFee) throw refuse('fee_out_of_range', 'its priority fee is above its fee.')
  return { to: to ?? '0x', data, nonce: BigInt(nonce), gas, maxFee }
}

function parsed(raw: Hex, refuse: RefuseTransaction) {
  try {
    return parseTransaction(raw)
  } catch {
    throw refuse('parse_failed', 'expected a signed transaction of the type eip1559.')
  }
}

/** Only the very call is accepted, without bytes behind it. */
function readAmount(data: Hex, refuse: RefuseTransaction): bigint {
  if (!data.startsWith(APPROVE)) throw refuse('wrong_selector', 'does not call approve.')
  const [spender, amount] = argsOf(data, refuse)
  if (!isSame(spender, PERMIT2)) throw refuse('wrong_spender', 'does not approve Permit2.')
  const exact = encodeFunctionData({ abi: APPROVE_ABI, functionName: 'approve', args: [spender, amount] })
  if (!isSame(exact, data)) throw refuse('invalid_calldata', 'has more in its data than approve takes.')
  return amount
}

function argsOf(data: Hex, refuse: RefuseTransaction): readonly [Hex, bigint] {
  try {
    return decodeFunctionData({ abi: APPROVE_ABI, data }).args
  } catch {
    throw refuse('invalid_calldata', 'has arguments that approve does not take.')
  }
}

async function signerOf(raw: Hex, refuse: RefuseTransaction): Promise<Hex> {
  try {
    return await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` })
  } catch {
    throw refuse('invalid_signature', 'has no valid signature.')
  }
}
