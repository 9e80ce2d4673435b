// Numbers in texts.

export const count = (n: number) => n.toLocaleString("en-US")
export const plural = (n: number, word: string, many = word + "s") => `${count(n)} ${n === 1 ? word : many}`
export const size = (bytes: number) => (bytes < 1024 ? `${bytes} B` : bytes < 1 << 20 ? `${(bytes / 1024).toFixed(1)} KiB` : bytes < 1 << 30 ? `${(bytes / (1 << 20)).toFixed(1)} MiB` : `${(bytes / (1 << 30)).toFixed(1)} GiB`)
