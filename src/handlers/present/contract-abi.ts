import type { Schemas } from '../../contract/operations.ts'
import { omitUndefined } from '../../lib/omit-undefined.ts'
import type { ContractInterface, InterfaceSummary } from '../../relayers/interfaces/contract-interface.ts'

/** Converts a registered ABI to the form of the contract in lists. */
export function presentAbiSummary(summary: InterfaceSummary): Schemas['AbiSummary'] {
  return omitUndefined({
    address: summary.address,
    name: summary.name,
    function_count: summary.functionCount,
    created_at: summary.createdAt.toISOString(),
    updated_at: summary.updatedAt.toISOString(),
  })
}

/** The same with the ABI itself. */
export function presentAbi(registered: ContractInterface): Schemas['ContractAbi'] {
  return { ...presentAbiSummary(registered), abi: registered.document.map((item) => ({ ...item })) }
}
