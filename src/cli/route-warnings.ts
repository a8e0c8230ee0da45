/**
 * Hands the warnings of Node.js and of libraries over, in place of their lines on standard error: who collects logs expects one form. Nothing
 * changes where warnings are switched off (`--no-warnings`). Returns a function that ends it.
 */
export function routeWarnings(tell: (warning: Error) => void): () => void {
  const printers = process.listeners('warning')
  if (printers.length === 0) return () => undefined
  process.removeAllListeners('warning')
  process.on('warning', tell)
  return () => {
    process.off('warning', tell)
    for (const printer of printers) process.on('warning', printer)
  }
}
