import { createPublicClient, encodeFunctionData, type Hex, http, maxUint256, parseAbi } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { PERMIT2 } from '../../../plugins/x402/evm/payment.ts'
import { smaller } from '../../../src/lib/bigint.ts'
import type { EvmSite } from './evm-site.ts'

/** What an approval contains, and what is said of it, if a test changes that. */
export interface ApprovalParts {
  readonly to: Hex
  readonly data: Hex
  readonly value: bigint
  readonly spender: Hex
  readonly amount: bigint
  readonly nonce: number
  readonly gas: bigint
  readonly maxFeePerGas: bigint
  readonly chainId: number
  readonly type: 'eip1559' | 'legacy'
  readonly info: object
}

const APPROVE = parseAbi(['function approve(address spender, uint256 value) returns (bool)'])

/** The gas of an approval as the clients of npm sign it. */
export const APPROVAL_GAS = 70_000n

/** Signs an approval of Permit2 as the clients of npm do, and returns the extension of the payment. */
export async function approvalBy(
  payer: PrivateKeyAccount,
  { anvil, token }: Pick<EvmSite, 'anvil' | 'token'>,
  parts: Partial<ApprovalParts> = {},
) {
  const client = createPublicClient({ transport: http(anvil.url) })
  const { spender = PERMIT2, amount = maxUint256, to = token, chainId = 31337 } = parts
  const { value = 0n, gas = APPROVAL_GAS } = parts
  const fees = await client.estimateFeesPerGas()
  const nonce = parts.nonce ?? (await client.getTransactionCount({ address: payer.address }))
  const data =
    parts.data ?? encodeFunctionData({ abi: APPROVE, functionName: 'approve', args: [spender, amount] })
  const { maxFeePerGas = fees.maxFeePerGas } = parts
  const maxPriorityFeePerGas = smaller(maxFeePerGas, fees.maxPriorityFeePerGas)
  const content = { to, data, value, nonce, gas, chainId }
  const signedTransaction = await payer.signTransaction(
    parts.type === 'legacy'
      ? { ...content, type: 'legacy', gasPrice: maxFeePerGas }
      : { ...content, type: 'eip1559', maxFeePerGas, maxPriorityFeePerGas },
  )
  const info = {
    from: payer.address,
    asset: token,
    spender: PERMIT2,
    amount: amount.toString(),
    signedTransaction,
    version: '1',
    ...parts.info,
  }
  return { erc20ApprovalGasSponsoring: { info } }
}
