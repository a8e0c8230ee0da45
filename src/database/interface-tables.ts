import type { Generated, JSONColumnType } from 'kysely'

/** The interfaces that callers have registered for contracts: on EVM, ABIs. A removed relayer has none. */
export interface ContractInterfacesTable {
  relayer_id: string
  /** The address of the contract in the canonical spelling of its chain. */
  address: string
  /** The name of the contract for people; null for none. */
  name: string | null
  /** The interface as it is shown. */
  document: JSONColumnType<readonly object[]>
  /** The functions of the document by the key that a call begins with, so that one is read without the others: on EVM the selector. */
  functions: JSONColumnType<Readonly<Record<string, object>>>
  /** The id of the API key that registered the present document. */
  registered_by: string
  created_at: Generated<Date>
  updated_at: Generated<Date>
}
