-- Ten rows whose JSON is about as long as the published figures' answer (1,285 bytes), so that rates compare.
IF NOT EXISTS (SELECT * FROM [dbo].[Blogs])
INSERT INTO [dbo].[Blogs] ([Name], [Url], [Rating]) VALUES
  (N'Threads that wait for sockets', N'https://blogs.example.com/2026/threads-that-wait-for-sockets', 5),
  (N'A pool is not a queue', N'https://blogs.example.com/2026/a-pool-is-not-a-queue-of-work', 4),
  (N'Backpressure, end to end', N'https://blogs.example.com/2026/backpressure-from-end-to-end', 5),
  (N'Cancelling at the server', N'https://blogs.example.com/2026/cancelling-queries-at-the-server', 4),
  (N'Reading rows one by one', N'https://blogs.example.com/2026/reading-rows-one-by-one-by-one', 3),
  (N'Why the first byte matters', N'https://blogs.example.com/2026/why-the-first-byte-matters', 4),
  (N'Sync over async, explained', N'https://blogs.example.com/2026/sync-over-async-is-explained', 5),
  (N'Decimals are not doubles', N'https://blogs.example.com/2026/decimals-are-never-doubles', 5),
  (N'Measuring under load', N'https://blogs.example.com/2026/measuring-a-service-under-load', 3),
  (N'Blocked, but not busy', N'https://blogs.example.com/2026/blocked-but-not-at-all-busy', 4);
GO
