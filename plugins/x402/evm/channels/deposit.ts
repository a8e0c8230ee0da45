import { encodeAbiParameters, type Hex, hashTypedData, keccak256 } from 'viem'
import { ERC20_SPONSORING, type PaymentRequest } from '../../wire.ts'
import { type Permit, readPermit } from '../approval.ts'
import { addressOf, integerOf, objectOf } from '../fields.ts'
import { type EvmPayment, isSame, PERMIT2 } from '../payment.ts'
import { readSignature } from '../signature.ts'
import {
  amountOf,
  type Channel,
  EIP3009_COLLECTOR,
  PERMIT2_COLLECTOR,
  refusal,
  type Voucher,
  wordOf,
} from './channel.ts'

/** What fills a channel, signed by the payer. */
export interface Deposit
  extends Pick<
    EvmPayment,
    | 'method'
    | 'amount'
    | 'nonce'
    | 'validAfter'
    | 'validBefore'
    | 'hash'
    | 'signature'
    | 'signedByKey'
    | 'creation'
    | 'bringsApproval'
  > {
  /** The contract that takes the tokens. */
  readonly collector: Hex
  readonly collectorData: Hex
}

interface Vouched {
  readonly channel: Channel
  readonly voucher: Voucher
}

/** Decodes the deposit of a payload. @throws Refusal if it is not one of this channel */
export async function decodeDeposit(
  request: PaymentRequest,
  vouched: Vouched,
  chainId: number,
): Promise<Deposit> {
  const { payload, requirements, extensions } = request
  const { payer } = vouched.channel
  const fields = objectOf(payload, 'deposit')
  const amount = amountOf(fields, 'amount')
  if (amount === 0n) throw refusal('deposit_payload', 'deposit.amount: expected more than 0.', payer)
  const authorization = objectOf(fields, 'authorization')
  const method = authorization.permit2Authorization === undefined ? 'eip3009' : 'permit2'
  const wanted = requirements.extra.assetTransferMethod ?? method
  if (wanted !== method)
    throw refusal(
      method === 'eip3009' ? 'permit2_authorization_required' : 'erc3009_authorization_required',
      `The requirements want ${String(wanted)}, and the deposit is by ${method}.`,
      payer,
    )
  const parts = { ...vouched, amount, chainId }
  if (method === 'eip3009')
    return decodeEip3009(objectOf(authorization, 'erc3009Authorization'), requirements, parts)
  const permit = readPermit(extensions, { payer, asset: vouched.channel.token, value: amount })
  if (permit === undefined && bringsApproval(extensions))
    throw refusal(
      'erc20_approval_unavailable',
      'Signed approvals are not sent for deposits: approve Permit2, or sign a permit of EIP-2612.',
      payer,
    )
  return decodePermit2(objectOf(authorization, 'permit2Authorization'), permit, parts)
}

function bringsApproval(extensions: PaymentRequest['extensions']): boolean {
  return JSON.stringify(extensions[ERC20_SPONSORING] ?? '').includes('signedTransaction')
}

interface Parts extends Vouched {
  readonly amount: bigint
  readonly chainId: number
}

async function decodeEip3009(
  fields: Readonly<Record<string, unknown>>,
  { extra: { name, version } }: PaymentRequest['requirements'],
  { channel: { payer, token }, voucher: { channelId }, amount, chainId }: Parts,
): Promise<Deposit> {
  if (typeof name !== 'string' || typeof version !== 'string')
    throw refusal(
      'missing_eip712_domain',
      'paymentRequirements.extra: needs name and version, the EIP-712 domain of the token.',
      payer,
    )
  const [validAfter, validBefore] = [integerOf(fields, 'validAfter'), integerOf(fields, 'validBefore')]
  const salt = BigInt(wordOf(fields, 'salt'))
  // The nonce names the channel, so what was signed fills no other one.
  const nonce = keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [channelId, salt]))
  const hash = hashTypedData({
    domain: { name, version, chainId, verifyingContract: token },
    types: {
      ReceiveWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'validAfter', type: 'uint256' },
        { name: 'validBefore', type: 'uint256' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'ReceiveWithAuthorization',
    message: { from: payer, to: EIP3009_COLLECTOR, value: amount, validAfter, validBefore, nonce },
  })
  const signed = await readSignature(fields, hash, payer)
  const collectorData = encodeAbiParameters(
    [{ type: 'uint256' }, { type: 'uint256' }, { type: 'uint256' }, { type: 'bytes' }],
    [validAfter, validBefore, salt, signed.signature],
  )
  return {
    method: 'eip3009',
    amount,
    nonce: BigInt(nonce),
    validAfter,
    validBefore,
    hash,
    ...signed,
    bringsApproval: false,
    collector: EIP3009_COLLECTOR,
    collectorData,
  }
}

async function decodePermit2(
  fields: Readonly<Record<string, unknown>>,
  permit: Permit | undefined,
  { channel: { payer, token }, voucher: { channelId }, amount, chainId }: Parts,
): Promise<Deposit> {
  const refuse = (reason: string, message: string) => refusal(`permit2_${reason}`, message, payer)
  const [permitted, witness] = [objectOf(fields, 'permitted'), objectOf(fields, 'witness')]
  const [nonce, deadline] = [integerOf(fields, 'nonce'), integerOf(fields, 'deadline')]
  if (!isSame(addressOf(fields, 'from'), payer))
    throw refuse('invalid_signature', 'from: is not the payer of the channel.')
  if (!isSame(addressOf(fields, 'spender'), PERMIT2_COLLECTOR))
    throw refuse('invalid_spender', `The spender must be ${PERMIT2_COLLECTOR}.`)
  if (!isSame(addressOf(permitted, 'token'), token))
    throw refusal('token_mismatch', 'The permit is for another token.', payer)
  if (integerOf(permitted, 'amount') !== amount)
    throw refuse('amount_mismatch', `The permit is for another amount than ${amount}.`)
  if (wordOf(witness, 'channelId') !== channelId)
    throw refusal('channel_id_mismatch', 'The permit is for another channel.', payer)
  const hash = hashTypedData({
    domain: { name: 'Permit2', chainId, verifyingContract: PERMIT2 },
    types: {
      PermitWitnessTransferFrom: [
        { name: 'permitted', type: 'TokenPermissions' },
        { name: 'spender', type: 'address' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
        { name: 'witness', type: 'DepositWitness' },
      ],
      TokenPermissions: [
        { name: 'token', type: 'address' },
        { name: 'amount', type: 'uint256' },
      ],
      DepositWitness: [{ name: 'channelId', type: 'bytes32' }],
    },
    primaryType: 'PermitWitnessTransferFrom',
    message: {
      permitted: { token, amount },
      spender: PERMIT2_COLLECTOR,
      nonce,
      deadline,
      witness: { channelId },
    },
  })
  const signed = await readSignature(fields, hash, payer)
  const collectorData = encodeAbiParameters(
    [{ type: 'uint256' }, { type: 'uint256' }, { type: 'bytes' }, { type: 'bytes' }],
    [nonce, deadline, signed.signature, permit === undefined ? '0x' : permitData(permit)],
  )
  return {
    method: 'permit2',
    amount,
    nonce,
    validAfter: 0n,
    // The deposit needs what came with it, too.
    validBefore: permit && permit.deadline < deadline ? permit.deadline : deadline,
    hash,
    ...signed,
    bringsApproval: permit !== undefined,
    collector: PERMIT2_COLLECTOR,
    collectorData,
  }
}

function permitData({ value, deadline, v, r, s }: Permit): Hex {
  return encodeAbiParameters(
    [{ type: 'uint256' }, { type: 'uint256' }, { type: 'uint8' }, { type: 'bytes32' }, { type: 'bytes32' }],
    [value, deadline, v, r, s],
  )
}
