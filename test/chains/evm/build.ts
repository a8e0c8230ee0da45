import type { EvmDraft, EvmPolicies, EvmRequest, Fees } from '../../../src/chains/evm/content.ts'
import type { EvmAccount, EvmAttempt } from '../../../src/chains/evm/types.ts'

export const FROM = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
export const TO = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

export const legacy = (gasPrice: bigint): Fees => ({ kind: 'legacy', gasPrice })

export const eip1559 = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint): Fees => ({
  kind: 'eip1559',
  maxFeePerGas,
  maxPriorityFeePerGas,
})

export function accountWith(policies: EvmPolicies = {}): EvmAccount {
  return { address: FROM, policies }
}

/** A transfer of one wei. */
export function requestOf(change: Partial<EvmRequest> = {}): EvmRequest {
  return { type: 'evm', to: TO, value: 1n, ...change }
}

/** A contract creation. */
export function creationOf(change: Partial<EvmRequest> = {}): EvmRequest {
  const { to: _, ...creation } = requestOf(change)
  return creation
}

export function draftOf(fees: Fees, change: Partial<EvmDraft> = {}): EvmDraft {
  return { type: 'evm', to: TO, value: 1n, data: '0x', gasLimit: 21_000n, fees, ...change }
}

/** An attempt that a node took, with bytes that no test looks at. */
export function attemptOf(fees: Fees, change: Partial<EvmAttempt> = {}): EvmAttempt {
  const number = change.number ?? 1
  return {
    number,
    kind: 'send',
    sourceAccount: FROM,
    nonce: 5n,
    draft: draftOf(fees),
    signed: {
      raw: new Uint8Array([number]),
      hash: `0x${String(number).padStart(64, '0')}`,
      signature: { r: '', s: '', v: 0, sig: '' },
    },
    signedAt: new Date(0),
    outcome: 'broadcast',
    ...change,
  }
}
