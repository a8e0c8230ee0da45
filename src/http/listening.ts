import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Starts to listen and tells where. Rejects when the port is taken. */
export async function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<{ host: string; port: number }> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(port, host, resolve)
  await promise
  server.removeListener('error', reject)
  const { address, port: actual } = server.address() as AddressInfo
  return { host: address, port: actual }
}

/** Takes no new connections, lets the requests that are here finish, and cuts what is left after the deadline. */
export async function drain(server: Server, deadlineMs: number): Promise<void> {
  if (!server.listening) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(() => server.closeAllConnections(), deadlineMs)
  server.close(() => resolve())
  server.closeIdleConnections()
  await promise
  clearTimeout(timer)
}
