import { useState } from 'preact/hooks'
import { Failure } from '../../parts/notice.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { useWorkplace } from '../../session/session-context.ts'
import { dayOf, type TransactionFilter } from './filter.ts'

/** Saves all transactions that the filter finds as CSV. */
export function ExportButton({ filter }: { readonly filter: TransactionFilter }) {
  const { client } = useWorkplace().session
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const save = async () => {
    setBusy(true)
    setError(undefined)
    try {
      saveFile(`transactions-${dayOf(new Date())}.csv`, await client.reports.exportTransactions(filter))
    } catch (failure) {
      setError(failure)
    }
    setBusy(false)
  }
  return (
    <>
      <button type="button" disabled={isBusy} onClick={save}>
        Export CSV
      </button>
      {error !== undefined && <Failure error={error} />}
    </>
  )
}
