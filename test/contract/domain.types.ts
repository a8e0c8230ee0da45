/** `tsc` compiles this file and nothing runs it: it proves that the domain and the contract name the same values. */
import type { Schemas } from '../../src/contract/operations.ts'
import type { FindingCode, NextAction } from '../../src/diagnosis/diagnosis.ts'
import type { NetworkType } from '../../src/networks/network.ts'
import type { EVM_POLICIES } from '../../src/relayers/policies/evm.ts'
import type { WirePolicies } from '../../src/relayers/policies/policy-table.ts'
import type { SOLANA_POLICIES } from '../../src/relayers/policies/solana.ts'
import type { STELLAR_POLICIES } from '../../src/relayers/policies/stellar.ts'
import type { DisabledReason } from '../../src/relayers/relayer.ts'
import type { NewSignerRequest } from '../../src/signers/manage.ts'
import type { ApprovalState } from '../../src/transactions/approvals/approvals-store.ts'
import type { TransactionStatus } from '../../src/transactions/model/transaction.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

export const statuses: Equal<TransactionStatus, Schemas['TransactionStatus']> = true
export const approvalStates: Equal<ApprovalState, Schemas['ApprovalState']> = true
export const findingCodes: Equal<FindingCode, Schemas['Finding']['code']> = true
export const nextActions: Equal<NextAction, Schemas['Diagnosis']['next_action']['action']> = true
export const signerTypes: Equal<NewSignerRequest['type'], Schemas['CreateSignerRequest']['type']> = true
export const networkTypes: Equal<NetworkType, Schemas['Relayer']['network_type']> = true
export const disabledReasons: Equal<DisabledReason['type'], Schemas['DisabledReason']['type']> = true

type Evm = WirePolicies<typeof EVM_POLICIES>
type Solana = WirePolicies<typeof SOLANA_POLICIES>
type Stellar = WirePolicies<typeof STELLAR_POLICIES>

/** The tables and the contract have the same policies for each type of network: one that only one side has does not compile. */
export const policies: [
  Equal<keyof Evm, keyof Schemas['EvmPolicies']>,
  Equal<keyof Solana, keyof Schemas['SolanaPolicies']>,
  Equal<keyof Stellar, keyof Schemas['StellarPolicies']>,
] = [true, true, true]
/** A caller can set every policy of a table when it creates a relayer, and when it changes one. */
export const creatable: [
  Exclude<keyof Evm, keyof Schemas['CreateEvmPolicies']>,
  Exclude<keyof Solana, keyof Schemas['CreateSolanaPolicies']>,
  Exclude<keyof Stellar, keyof Schemas['CreateStellarPolicies']>,
  Exclude<keyof Evm | keyof Solana | keyof Stellar, keyof Schemas['RelayerPoliciesPatch']>,
] extends [never, never, never, never]
  ? true
  : false = true
/** The values of a table have the types of the contract. */
export const evm = (written: Evm): Schemas['EvmPolicies'] => written
export const solana = (written: Solana): Schemas['SolanaPolicies'] => written
export const stellar = (written: Stellar): Schemas['StellarPolicies'] => written
