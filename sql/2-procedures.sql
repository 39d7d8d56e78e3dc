-- The second of waiting stands for a slow query: it costs no CPU, so what remains is how the reader waits.
CREATE OR ALTER PROCEDURE [dbo].[BlogProc]
AS
BEGIN
  SET NOCOUNT ON;
  WAITFOR DELAY '00:00:01';
  SELECT * FROM [dbo].[Blogs];
END
GO
