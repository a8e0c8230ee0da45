import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Starts to listen and returns the address. `backlog` is the number of connections that wait to be accepted. Rejects when the port is in use. */
export async function listen(
  server: Server,
  { host, port, backlog }: { readonly host: string; readonly port: number; readonly backlog?: number },
): Promise<{ host: string; port: number }> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen({ port, host, ...(backlog !== undefined && { backlog }) }, resolve)
  await promise
  server.removeListener('error', reject)
  const { address, port: actual } = server.address() as AddressInfo
  return { host: address, port: actual }
}

/** Stops new connections and closes the open ones. */
export async function close(server: Server): Promise<void> {
  if (!server.listening) return
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  server.closeAllConnections()
  await promise
}
