import { randomBytes } from 'node:crypto'
import { computeChannelId } from '@x402/evm/batch-settlement/client'
import {
  createPublicClient,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  http,
  keccak256,
  parseAbi,
  toHex,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { CHANNELS_ABI } from '../../../plugins/x402/evm/channels/abi.ts'
import { CHANNELS, EIP3009_COLLECTOR, PERMIT2_COLLECTOR } from '../../../plugins/x402/evm/channels/channel.ts'
import { PERMIT2 } from '../../../plugins/x402/evm/payment.ts'
import { CHANNELS_CODE, EIP3009_COLLECTOR_CODE, PERMIT2_COLLECTOR_CODE } from './channel-code.ts'
import { type EvmSite, NETWORK } from './evm-site.ts'

/** Puts the contracts of the scheme where they are on every chain. */
export async function placeChannels({ anvil }: Pick<EvmSite, 'anvil'>): Promise<void> {
  await anvil.rpc('anvil_setCode', [CHANNELS, CHANNELS_CODE])
  await anvil.rpc('anvil_setCode', [EIP3009_COLLECTOR, EIP3009_COLLECTOR_CODE])
  await anvil.rpc('anvil_setCode', [PERMIT2_COLLECTOR, PERMIT2_COLLECTOR_CODE])
}

/** A channel, and the keys of its parties. */
export interface TestChannel {
  readonly payer: PrivateKeyAccount
  readonly authorizer: PrivateKeyAccount
  readonly config: {
    readonly payer: Hex
    readonly payerAuthorizer: Hex
    readonly receiver: Hex
    readonly receiverAuthorizer: Hex
    readonly token: Hex
    readonly withdrawDelay: number
    readonly salt: Hex
  }
  readonly id: Hex
}

/** A channel of a payer to a receiver. Its id is what the client of npm works out. */
export function channelOf(
  { token, payTo }: { readonly token: Hex; readonly payTo: Hex },
  { payer, authorizer }: Pick<TestChannel, 'payer' | 'authorizer'>,
  changes: Partial<TestChannel['config']> = {},
): TestChannel {
  const config = {
    payer: payer.address,
    payerAuthorizer: payer.address,
    receiver: payTo,
    receiverAuthorizer: authorizer.address,
    token,
    withdrawDelay: 900,
    salt: toHex(randomBytes(32)),
    ...changes,
  }
  return { payer, authorizer, config, id: computeChannelId(config, NETWORK) }
}

const domain = {
  name: 'x402 Batch Settlement',
  version: '1',
  chainId: 31337,
  verifyingContract: CHANNELS,
} as const

/** A voucher of the channel's payer; `domain` and `by` are for those that are forged. */
export async function voucherOf(
  { payer, id }: TestChannel,
  most: bigint,
  { by = payer, on = {} }: { readonly by?: PrivateKeyAccount; readonly on?: object } = {},
) {
  const signature = await by.signTypedData({
    domain: { ...domain, ...on },
    types: {
      Voucher: [
        { name: 'channelId', type: 'bytes32' },
        { name: 'maxClaimableAmount', type: 'uint128' },
      ],
    },
    primaryType: 'Voucher',
    message: { channelId: id, maxClaimableAmount: most },
  })
  return { channelId: id, maxClaimableAmount: most.toString(), signature }
}

/** What the resource server asks the facilitator with. */
export function channelBody(
  { config }: Pick<TestChannel, 'config'>,
  payload: object,
  changes: object = {},
  extra: object = {},
) {
  const requirements = {
    scheme: 'batch-settlement',
    network: NETWORK,
    amount: '1000',
    asset: config.token,
    payTo: config.receiver,
    maxTimeoutSeconds: 300,
    extra: {
      receiverAuthorizer: config.receiverAuthorizer,
      withdrawDelay: config.withdrawDelay,
      name: 'Test Dollar',
      version: '2',
      ...extra,
    },
    ...changes,
  }
  return {
    x402Version: 2,
    paymentPayload: { x402Version: 2, accepted: requirements, payload },
    paymentRequirements: requirements,
  }
}

/** What the manager of npm asks with, which names no price. */
export function managerBody(channel: Pick<TestChannel, 'config'>, payload: object) {
  return channelBody(channel, payload, { amount: '0', maxTimeoutSeconds: 0, extra: {} })
}

const soon = () => BigInt(Math.floor(Date.now() / 1000))

/** A deposit by EIP-3009 with the first voucher. */
export async function depositBody(
  channel: TestChannel,
  amount: bigint,
  {
    most = 1000n,
    salt = toHex(randomBytes(32)),
    validBefore = soon() + 600n,
    channelId = channel.id,
    by = channel.payer,
    voucher,
    wrap = (signature: Hex) => signature,
  }: {
    readonly most?: bigint
    readonly salt?: Hex
    readonly validBefore?: bigint
    readonly channelId?: Hex
    readonly by?: PrivateKeyAccount
    readonly voucher?: object
    readonly wrap?: (signature: Hex) => Hex
  } = {},
) {
  const nonce = keccak256(
    encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [channelId, BigInt(salt)]),
  )
  const { payer, token } = channel.config
  const signature = await by.signTypedData({
    domain: { name: 'Test Dollar', version: '2', chainId: 31337, verifyingContract: token },
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
    message: { from: payer, to: EIP3009_COLLECTOR, value: amount, validAfter: 0n, validBefore, nonce },
  })
  const erc3009Authorization = {
    validAfter: '0',
    validBefore: validBefore.toString(),
    salt,
    signature: wrap(signature),
  }
  return channelBody(channel, {
    type: 'deposit',
    channelConfig: channel.config,
    voucher: voucher ?? (await voucherOf(channel, most)),
    deposit: { amount: amount.toString(), authorization: { erc3009Authorization } },
  })
}

/** A deposit by Permit2 with the first voucher. */
export async function permitDepositBody(
  channel: TestChannel,
  amount: bigint,
  {
    channelId = channel.id,
    spender = PERMIT2_COLLECTOR,
  }: { readonly channelId?: Hex; readonly spender?: Hex } = {},
) {
  const [nonce, deadline] = [BigInt(toHex(randomBytes(32))), soon() + 600n]
  const { payer, token } = channel.config
  const permitted = { token, amount }
  const signature = await channel.payer.signTypedData({
    domain: { name: 'Permit2', chainId: 31337, verifyingContract: PERMIT2 },
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
    message: { permitted, spender, nonce, deadline, witness: { channelId } },
  })
  const permit2Authorization = {
    from: payer,
    permitted: { token, amount: amount.toString() },
    spender,
    nonce: nonce.toString(),
    deadline: deadline.toString(),
    witness: { channelId },
    signature,
  }
  return channelBody(
    channel,
    {
      type: 'deposit',
      channelConfig: channel.config,
      voucher: await voucherOf(channel, 1000n),
      deposit: { amount: amount.toString(), authorization: { permit2Authorization } },
    },
    {},
    { assetTransferMethod: 'permit2' },
  )
}

/** A row of a claim. */
export interface ClaimRow {
  readonly channel: TestChannel
  readonly most: bigint
  readonly claimed: bigint
}

async function rowsOf(rows: readonly ClaimRow[]) {
  return Promise.all(
    rows.map(async ({ channel, most, claimed }) => ({
      voucher: { channel: channel.config, maxClaimableAmount: most.toString() },
      signature: (await voucherOf(channel, most)).signature,
      totalClaimed: claimed.toString(),
    })),
  )
}

function signClaims(by: PrivateKeyAccount, rows: readonly ClaimRow[]): Promise<Hex> {
  return by.signTypedData({
    domain,
    types: {
      ClaimBatch: [{ name: 'claims', type: 'ClaimEntry[]' }],
      ClaimEntry: [
        { name: 'channelId', type: 'bytes32' },
        { name: 'maxClaimableAmount', type: 'uint128' },
        { name: 'totalClaimed', type: 'uint128' },
      ],
    },
    primaryType: 'ClaimBatch',
    message: {
      claims: rows.map(({ channel, most, claimed }) => ({
        channelId: channel.id,
        maxClaimableAmount: most,
        totalClaimed: claimed,
      })),
    },
  })
}

/** A claim by the receiver's authorizer. */
export async function claimBody(
  rows: readonly [ClaimRow, ...ClaimRow[]],
  {
    by = rows[0].channel.authorizer,
    changed = {},
  }: { readonly by?: PrivateKeyAccount; readonly changed?: object } = {},
) {
  return managerBody(rows[0].channel, {
    type: 'claim',
    claims: await rowsOf(rows),
    claimAuthorizerSignature: await signClaims(by, rows),
    ...changed,
  })
}

/** Gives the receiver what was claimed. */
export function settleBody(channel: TestChannel) {
  const { receiver, token } = channel.config
  return managerBody(channel, { type: 'settle', receiver, token })
}

/** A refund as the receiver's server completes it, with what it claims before. */
export async function refundBody(
  channel: TestChannel,
  {
    amount,
    nonce = 0n,
    rows = [],
    by = channel.authorizer,
  }: {
    readonly amount: bigint
    readonly nonce?: bigint
    readonly rows?: readonly ClaimRow[]
    readonly by?: PrivateKeyAccount
  },
) {
  const refundAuthorizerSignature = await by.signTypedData({
    domain,
    types: {
      Refund: [
        { name: 'channelId', type: 'bytes32' },
        { name: 'nonce', type: 'uint256' },
        { name: 'amount', type: 'uint128' },
      ],
    },
    primaryType: 'Refund',
    message: { channelId: channel.id, nonce, amount },
  })
  return managerBody(channel, {
    type: 'refund',
    channelConfig: channel.config,
    voucher: await voucherOf(channel, rows[0]?.most ?? 0n),
    amount: amount.toString(),
    refundNonce: nonce.toString(),
    claims: await rowsOf(rows),
    refundAuthorizerSignature,
    ...(rows.length > 0 && { claimAuthorizerSignature: await signClaims(by, rows) }),
  })
}

const WITHDRAW = parseAbi([
  'struct ChannelConfig { address payer; address payerAuthorizer; address receiver; address receiverAuthorizer; address token; uint40 withdrawDelay; bytes32 salt; }',
  'function initiateWithdraw(ChannelConfig config, uint128 amount)',
  'function finalizeWithdraw(ChannelConfig config)',
])

/** The payer takes back what is left, in two transactions that he pays for himself, with the delay between them. */
export async function withdraw(
  { anvil }: Pick<EvmSite, 'anvil'>,
  { config }: TestChannel,
  amount: bigint,
): Promise<void> {
  await anvil.rpc('anvil_impersonateAccount', [config.payer])
  await anvil.rpc('anvil_setBalance', [config.payer, '0xde0b6b3a7640000'])
  const send = (data: Hex) =>
    anvil.rpc('eth_sendTransaction', [{ from: config.payer, to: CHANNELS, data, gas: '0x7a120' }])
  await send(encodeFunctionData({ abi: WITHDRAW, functionName: 'initiateWithdraw', args: [config, amount] }))
  // Both are in blocks of their own.
  await anvil.rpc('evm_mine')
  await anvil.rpc('evm_increaseTime', [config.withdrawDelay + 1])
  await send(encodeFunctionData({ abi: WITHDRAW, functionName: 'finalizeWithdraw', args: [config] }))
  await anvil.rpc('evm_mine')
}

/** What a channel has, and what was claimed of it. */
export function channelState(
  { anvil }: Pick<EvmSite, 'anvil'>,
  { id }: TestChannel,
): Promise<readonly [bigint, bigint]> {
  const client = createPublicClient({ transport: http(anvil.url) })
  return client.readContract({ address: CHANNELS, abi: CHANNELS_ABI, functionName: 'channels', args: [id] })
}
