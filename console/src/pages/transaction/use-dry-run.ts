import type { Body, Schemas, Transaction } from '../../../../clients/typescript/src/index.ts'
import { type Loaded, useLoad } from '../../live/use-load.ts'
import { useWorkplace } from '../../session/session-context.ts'

/** Asks what a replacement would do. Without a request nothing is asked. */
export function useDryRun(
  { relayer_id, id }: Transaction,
  request: Body<'replaceTransaction'> | undefined,
): Loaded<Schemas['DryRun'] | undefined> {
  const { client } = useWorkplace().session
  return useLoad(
    async (signal) =>
      request === undefined
        ? undefined
        : await client.transactions.replace(relayer_id, id, request, { dry_run: true, signal }),
    [
      id,
      request &&
        JSON.stringify(request, (_name, value: unknown) =>
          typeof value === 'bigint' ? value.toString() : value,
        ),
    ],
  )
}
